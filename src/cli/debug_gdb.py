# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The commands lockstep-* of `lockstep debug`, for the Python inside gdb. The program puts `lockstep_start` before this
# text: the descriptors of the replay's text and of this script, the number of the first step, and the name of a function
# or ''. Another step is reached by a run from the beginning, up to the functions stop_point_*() (src/base/stop_points.h).
import gdb
import os
import re

FAULTS = 'SIGSEGV SIGBUS SIGFPE SIGILL SIGABRT'
NO_STEP = 2**64 - 1
HELP = '''lockstep-next [N]            goes N steps on (1)
lockstep-back [N]            goes N steps back (1), by another run up to there
lockstep-goto N[:FUNCTION]   goes to step N, and in it to a function
lockstep-where               shows the step, as lockstep replay prints it
All other commands of gdb work as usual. Breakpoints do not stop the run on the way to a step. The addresses of states and
blocks of memory are the same in each run, so a watchpoint on one (watch -l) stays right.
'''


def text_of(descriptor):
    """Return the text of a file in memory, and close it."""
    with os.fdopen(descriptor, 'rb') as file:
        file.seek(0)
        return file.read().decode('utf-8', 'backslashreplace')


class Story:
    """The lines that `lockstep replay` prints, by step; 0 is the beginning of the run."""

    def __init__(self, text):
        head, _, body = text.partition('\n\n')
        recipe = re.search(r'^recipe   (.*)$', head, re.MULTILINE)
        self.recipe = recipe.group(1) if recipe else ''
        self.lines = {0: []}
        self.end = []
        step = 0
        for line in body.splitlines():
            number = re.match(r' {0,4}(\d+)  ', line)
            if number:
                step = int(number.group(1))
                self.lines[step] = [line]
            elif line.startswith('    ') and not self.end:
                self.lines[step].append(line)
            elif line:
                self.end.append(line)
        self.last = step

    def show(self, step):
        lines = self.lines.get(step, [])
        if step == 0:
            lines = ['    0  the beginning of the run'] + lines
        gdb.write(''.join(line + '\n' for line in lines))


class Stop(gdb.Breakpoint):
    """A breakpoint of ours, which notes that it was hit. Users do not see it."""

    hit = None

    def __init__(self, what, **place):
        super().__init__(internal=True, **place)
        self.silent = True
        self.what = what
        self.object = None

    def stop(self):
        if self.object is not None and object_at(gdb.newest_frame().pc()) not in (self.object, ''):
            return False
        Stop.hit = self.what
        return True


def object_at(address):
    """Return the path of the shared object at an address; that of the program if it is in none; '' if it is no text."""
    try:
        return os.path.realpath(gdb.solib_name(address) or gdb.current_progspace().filename)
    except UnicodeError:
        return ''


def function_at(address):
    """Return the symbol of the function that begins at an address, or None without debug information."""
    block = gdb.current_progspace().block_for_pc(address)
    while block is not None and block.function is None:
        block = block.superblock
    return block.function if block is not None and block.start == address else None


def quiet(command):
    gdb.execute(command, to_string=True)


def is_alive():
    return gdb.selected_inferior().pid != 0


class Guest:
    """The replay, as a process under gdb."""

    def __init__(self, story):
        self.story = story
        self.on_the_way = False
        self.stops = {name: Stop(name, spec='stop_point_' + name) for name in ('replay', 'step', 'call', 'done')}
        quiet("""set exec-wrapper sh -c 'exec "$@" >/dev/null' sh""")  # the story has the text already
        self.signal = ''
        self.without_call = set()  # steps that are known to call no function of the recipe
        gdb.events.exited.connect(self.exited)
        gdb.events.stop.connect(self.stopped)

    # ---- words of the program's memory ----

    def address_of(self, name):
        return int(gdb.parse_and_eval('(unsigned long)&stop_point_' + name))

    def read(self, name, size=8):
        return int.from_bytes(gdb.selected_inferior().read_memory(self.address_of(name), size).tobytes(), 'little')

    def want(self, step):
        gdb.selected_inferior().write_memory(self.address_of('wanted'), step.to_bytes(8, 'little'))

    def step(self):
        return self.read('at')

    # ---- to a stop ----

    def travel(self, journey):
        """Call journey(), while neither breakpoints of the user nor signals for the guard stop the run."""
        users = [point for point in gdb.breakpoints() if point.number > 0 and point.enabled]
        for point in users:
            point.enabled = False
        self.on_the_way = True
        quiet('handle %s SIGPROF nostop noprint pass' % FAULTS)
        try:
            return journey()
        finally:
            quiet('handle %s stop print pass' % FAULTS)
            quiet('handle SIGPROF nostop noprint nopass')  # while a user looks, no call takes too long
            self.on_the_way = False
            for point in users:
                if point.is_valid():
                    point.enabled = True

    def go_on(self, *names, command='continue'):
        """Continue to one of these stops. Return its name, or None if the run ends before."""
        for name, stop in self.stops.items():
            stop.enabled = name in names
        Stop.hit = None
        while Stop.hit not in names:
            self.signal = ''
            quiet(command)
            command = 'continue'
            if not is_alive():
                break
            if self.signal == 'SIGINT':
                raise gdb.GdbError('interrupted on the way, in step %d' % self.step())
        for stop in self.stops.values():
            stop.enabled = False
        return Stop.hit

    def begin(self, step):
        """Run from the beginning to the beginning of a step."""
        try:
            begun = self.go_on('replay', command='run')
        except gdb.error as error:
            gdb.write('lockstep debug: gdb cannot trace the replay: %s\n' % error, gdb.STDERR)
            quiet('quit 4')
        if begun is not None:
            self.want(step)
            begun = self.go_on('step')
        if begun is None:
            raise gdb.GdbError('the run ends before step %d' % step)

    def reach(self, step):
        """Go to the beginning of a step: on from here, if it has not been passed."""
        if is_alive() and self.step() < step:
            self.want(step)
            if self.go_on('step') is not None:
                return
        self.begin(step)

    def stop_in(self, where, owner=None):
        """Go on to a place, in this object if one is given, or to the end of the step. Return whether it was reached; None
        if there is no such place."""
        stop = Stop('function', **where)
        stop.object = owner
        try:
            if stop.pending:
                return None
            self.stops['function'] = stop
            return self.go_on('function', 'done') == 'function'
        finally:
            self.stops.pop('function', None)
            stop.delete()

    def enter(self, step):
        """Go on to the function that is called next, behind its prologue; without debug information to its address."""
        address = self.read('callee')
        function = function_at(address)
        if function is None:
            self.stop_in({'spec': '*%d' % address})
            return 'no debug information in %s: %s' % (object_at(address), self.remedy())
        where = {'function': function.name, 'source': function.symtab.filename}
        if not self.stop_in(where, object_at(address)):
            self.begin(step)  # gdb finds no line behind the prologue
            self.go_on('call')
            self.stop_in({'spec': '*%d' % self.read('callee')})
        return ''

    def remedy(self):
        if self.is_file():
            return 'compile the recipe with -O0 -g'
        return 'build lockstep with -g, and do not strip it'

    def is_file(self):
        return '/' in self.story.recipe or self.story.recipe.endswith('.so')

    def recipe(self):
        """Return the object that has the recipe; None if it is part of the program."""
        return os.path.realpath(self.story.recipe) if self.is_file() else None

    def to_call(self, step):
        self.reach(step)
        if step not in self.without_call:
            if self.go_on('call', 'done') == 'call':
                return self.enter(step)
            self.without_call.add(step)
            self.begin(step)
        return 'step %d calls no function of the recipe; this is where the step begins' % step

    def to_function(self, step, function):
        self.reach(step)
        if self.go_on('call', 'done') != 'call':
            self.begin(step)  # questions to the recipe are no calls
        reached = self.stop_in({'function': function}, self.recipe())
        if reached:
            return ''
        if reached is None:
            raise gdb.GdbError('no function %s in the program or in the recipe' % function)
        note = self.to_call(step)
        return 'step %d does not reach %s%s' % (step, function, '\n' + note if note else '')

    def go(self, step, function=''):
        if step < 0 or step > self.story.last:
            raise gdb.GdbError('no step %d: the steps of this run are 0 to %d' % (step, self.story.last))
        note = self.travel(lambda: self.to_function(step, function) if function else self.to_call(step))
        self.story.show(step)
        if note:
            gdb.write(note + '\n')
        gdb.execute('frame')

    def stopped(self, event):
        self.signal = getattr(event, 'stop_signal', '')

    def exited(self, event):
        if not self.on_the_way and hasattr(event, 'exit_code'):  # killed by gdb otherwise
            gdb.write(''.join(line + '\n' for line in self.story.end))


class Command(gdb.Command):
    """A command with a number, which stands for a step."""

    def __init__(self, name, act):
        super().__init__(name, gdb.COMMAND_RUNNING)
        self.act = act

    def invoke(self, argument, from_tty):
        del from_tty
        self.act(argument.strip())


def number_of(text):
    if not re.fullmatch(r'\d{0,9}', text):
        raise gdb.GdbError("expected a number of steps, found '%s'" % text)
    return int(text or 1)


def present_step():
    if not is_alive():
        raise gdb.GdbError('the run is over: lockstep-goto N goes to a step of it')
    return guest.step()


def goto(text):
    place = re.fullmatch(r'(\d{1,9})(?::([A-Za-z_][A-Za-z0-9_.]*))?', text)
    if not place:
        raise gdb.GdbError("expected N or N:FUNCTION, found '%s'" % text)
    guest.go(int(place.group(1)), place.group(2) or '')


def add_commands():
    Command('lockstep-next', lambda text: guest.go(present_step() + number_of(text)))
    Command('lockstep-back', lambda text: guest.go(present_step() - number_of(text)))
    Command('lockstep-goto', goto)
    Command('lockstep-where', lambda text: guest.story.show(present_step()))
    Command('lockstep-help', lambda text: gdb.write(HELP))


def start():
    told, script, step, function = lockstep_start
    os.close(script)
    language = os.environ.get('LC_ALL') or os.environ.get('LC_CTYPE') or os.environ.get('LANG') or 'C'
    if language in ('C', 'POSIX'):
        quiet('set host-charset UTF-8')  # names of files may have any character
    # gdb reads the libraries anew in each run. The files of debug information of libc alone take most of the time of a way back.
    quiet('set debug-file-directory')
    global guest
    guest = Guest(Story(text_of(told)))
    add_commands()
    try:
        guest.go(step, function)
    except gdb.GdbError as error:
        gdb.write('%s\n' % error, gdb.STDERR)


start()
