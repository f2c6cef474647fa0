"""
Random programs, in one C# file: each line that makes an object makes one of another type, T and the number of the line.

    generate.py SEEDS FILE

Each seed is a namespace Seed1, Seed2, ... with methods that call each other: nested, generic, async, iterators, lambdas, local
functions, loops, switches, handlers. What one call of its entry makes is bounded. The same SEEDS give the same file.
"""
import random
import sys

MOST_OBJECTS = 400  # that one call of a method makes, with all that it calls
METHODS = 24        # of a seed

HEADER = '''// Made by generate.py. Every line that makes an object makes one of another type, T and the number of the line.
using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Threading.Tasks;

static class Sink
{
    public static object O;
    public static readonly object Lock = new();

    [MethodImpl(MethodImplOptions.NoInlining)]
    public static void Keep(object it) => O = it;

    public static int Eat(object a, object b)
    {
        O = a;
        O = b;
        return 1;
    }

    public static object Pass(object it) => it;
}

struct Pair
{
    public long A, B;
}
'''


class Method:
    def __init__(self, name, kind, cost):
        self.name, self.kind, self.cost = name, kind, cost


class Program:
    def __init__(self):
        self.lines, self.types, self.indent, self.names = HEADER.splitlines(), [], 0, 0

    def put(self, text):
        self.lines.append('    ' * self.indent + text if text else '')

    def open(self, text=None):
        if text:
            self.put(text)
        self.put('{')
        self.indent += 1

    def close(self, after=''):
        self.indent -= 1
        self.put('}' + after)

    def type(self):
        """That of the line that is put next."""
        line = len(self.lines) + 1
        if line not in self.types:
            self.types.append(line)
        return 'T%05d' % line

    def made(self, value):
        """The expression for an object of it."""
        return 'new %s(%s)' % (self.type(), value)

    def fresh(self, prefix):
        self.names += 1
        return '%s%d' % (prefix, self.names)


class Body:
    """Statements of one method. `i` is its argument, `r` what it returns."""

    def __init__(self, program, random, kind, callees):
        self.p, self.random, self.kind, self.callees, self.cost = program, random, kind, callees, 0

    def statements(self, depth, times, inside=()):
        for _ in range(self.random.randint(1, 4 if depth == 0 else 2)):
            self.random.choice(self.choices(depth, inside))(depth, times, inside)

    def choices(self, depth, inside):
        simple = [self.assigned, self.kept, self.several, self.conditional, self.chosen, self.listed, self.grown, self.call, self.call, self.call]
        if self.kind == 'iterator' and not inside:
            simple.append(self.yielded)
        if self.kind == 'async' and not {'lock', 'lambda'} & set(inside):
            simple += [self.awaited] * 2
        if depth >= 3:
            return simple
        nested = [self.condition, self.loop, self.switch, self.through_lambda, self.through_local]
        if self.kind != 'iterator':
            nested += [self.handlers, self.handlers, self.locked]
        return simple + nested

    def object(self, times, value='i'):
        self.cost += times
        return self.p.made(value)

    # ---- one statement

    def assigned(self, depth, times, inside):
        self.p.put('Sink.O = %s;' % self.object(times))

    def kept(self, depth, times, inside):
        self.p.put('Sink.Keep(%s);' % self.object(times, 'r'))

    def several(self, depth, times, inside):
        self.p.put('r += Sink.Eat(')
        self.p.put('    %s,' % self.object(times))
        self.p.put('    Sink.Pass(%s));' % self.object(times, 'r'))

    def conditional(self, depth, times, inside):
        self.p.put('Sink.O = i %% %d == 0' % self.random.randint(2, 5))
        self.p.put('    ? %s' % self.object(times))
        self.p.put('    : (object)%s;' % self.object(times))

    def chosen(self, depth, times, inside):
        self.p.open('Sink.O = (i & 3) switch')
        for case in '0', '1', '2', '_':
            self.p.put('%s => (object)%s,' % (case, self.object(times)))
        self.p.close(';')

    def listed(self, depth, times, inside):
        self.p.open('Sink.O = new object[]')
        for _ in range(self.random.randint(2, 4)):
            self.p.put('%s,' % self.object(times))
        self.p.close(';')

    def grown(self, depth, times, inside):
        """The framework makes arrays of the line's type, in methods that are inlined, or called by those."""
        name, type = self.p.fresh('g'), self.p.type()
        self.cost += 3 * times
        if self.random.random() < 0.7:
            self.p.put('var %s = new List<%s>(); %s.Add(null); %s.AddRange(new %s[4]); %s.Add(null); Sink.O = %s;' % (name, type, name, name, type, name, name))
        else:
            self.p.put('var %s = new %s[2]; Array.Resize(ref %s, 3); Array.Resize(ref %s, 1); Sink.O = %s;' % (name, type, name, name, name))

    def yielded(self, depth, times, inside):
        self.p.put('yield return r;')

    def awaited(self, depth, times, inside):
        self.p.put(self.random.choice(('await Task.Yield();', 'await Task.CompletedTask;')))

    def call(self, depth, times, inside):
        fitting = [m for m in self.callees if self.cost + m.cost * times <= MOST_OBJECTS]
        if not fitting:
            return self.assigned(depth, times, inside)
        callee = self.random.choice(fitting)
        self.cost += callee.cost * times
        argument = 'i + %d' % self.random.randint(0, 3)
        if callee.kind == 'generic':
            value, name = self.random.choice((('0', '<int>'), ('""', '<string>'), ('default', '<Pair>'), ('null', '<object>')))
            self.p.put('r += %s%s(%s, %s);' % (callee.name, name, value, argument))
        elif callee.kind == 'async' and self.kind == 'async' and not {'lock', 'lambda'} & set(inside):
            self.p.put('r += await %s(%s);' % (callee.name, argument))
        elif callee.kind == 'async':
            self.p.put('r += %s(%s).GetAwaiter().GetResult();' % (callee.name, argument))
        elif callee.kind == 'iterator':
            each = self.p.fresh('e')
            self.p.put('foreach (int %s in %s(%s))' % (each, callee.name, argument))
            self.p.put('    r += %s;' % each)
        elif callee.kind == 'instance':
            self.p.put('r += new %s { X = i }.Run(%s);' % (callee.name, argument))
        else:
            self.p.put('r += %s(%s);' % (callee.name, argument))

    # ---- statements with others inside

    def condition(self, depth, times, inside):
        self.p.open('if (i %% %d == %d)' % (self.random.randint(2, 4), self.random.randint(0, 1)))
        self.statements(depth + 1, times, inside)
        self.p.close()
        if self.random.random() < 0.5:
            self.p.open('else')
            self.statements(depth + 1, times, inside)
            self.p.close()

    def loop(self, depth, times, inside):
        index, count = self.p.fresh('j'), self.random.randint(2, 3)
        if self.random.random() < 0.3:
            self.p.put('int %s = 0;' % index)
            self.p.open('while (%s++ < %d)' % (index, count))
            self.p.put('if ((r + %s) %% 5 == 4)' % index)
            self.p.put('    ' + self.random.choice(('continue;', 'break;')))
        else:
            self.p.open('for (int %s = 0; %s < %d; %s++)' % (index, index, count, index))
        self.statements(depth + 1, times * count, inside)
        self.p.close()

    def switch(self, depth, times, inside):
        self.p.open('switch (i %% %d)' % self.random.randint(3, 6))
        for case in range(self.random.randint(2, 4)):
            self.p.put('case %d:' % case)
            self.p.indent += 1
            self.statements(depth + 1, times, inside)
            self.p.put('break;')
            self.p.indent -= 1
        self.p.put('default:')
        self.p.put('    Sink.O = %s;' % self.object(times))
        self.p.put('    break;')
        self.p.close()

    def handlers(self, depth, times, inside):
        with_catch = self.random.random() < 0.7
        self.p.open('try')
        self.statements(depth + 1, times, inside)
        if with_catch:
            self.p.put('if (i %% %d == 1)' % self.random.randint(60, 90))
            self.p.put('    throw new InvalidOperationException();')
            self.statements(depth + 1, times, inside)
        self.p.close()
        if with_catch:
            self.p.open('catch (InvalidOperationException)' + self.random.choice(('', ' when (r >= 0)')))
            self.statements(3, times, inside)
            self.p.close()
        if not with_catch or self.random.random() < 0.5:
            self.p.open('finally')
            self.statements(3, times, inside)
            self.p.close()

    def locked(self, depth, times, inside):
        self.p.open('lock (Sink.Lock)')
        self.statements(depth + 1, times, (*inside, 'lock'))
        self.p.close()

    def inner(self, depth, times, inside):
        """A function in the method: `i` and `r` are the method's, unless it has its own."""
        self.statements(depth + 1, times, (*inside, 'lambda'))
        self.p.put('return r & 7;')

    def through_lambda(self, depth, times, inside):
        name = self.p.fresh('f')
        captures = self.random.random() < 0.6
        if captures:
            self.p.open('Func<int, int> %s = %s =>' % (name, self.p.fresh('x')))
        else:
            self.p.open('Func<int, int> %s = static i =>' % name)
            self.p.put('int r = i;')
        self.inner(depth, times, inside)
        self.p.close(';')
        self.p.put('r += %s(i);' % name)

    def through_local(self, depth, times, inside):
        name = self.p.fresh('Local')
        self.p.put('r += %s(i + 1);' % name)
        self.p.open('static int %s(int i)' % name)
        self.p.put('int r = i;')
        self.inner(depth, times, inside)
        self.p.close()


def put_method(p, random, name, kind, callees):
    body = Body(p, random, kind, callees)
    roll = random.random()
    attribute = '[MethodImpl(MethodImplOptions.%s)]' % ('AggressiveInlining' if roll < 0.25 else 'NoInlining') if roll < 0.35 else None
    if kind == 'short':
        p.put('static int %s(int i) => Sink.Eat(%s, i);' % (name, body.object(1)))
    elif kind == 'instance':
        p.open('struct %s' % name)
        p.put('public int X;')
        if attribute:
            p.put(attribute)
        p.open('public int Run(int i)')
        p.put('int r = X;')
        body.kind = 'plain'
        # C# lets no lambda of a structure use its fields; these use i and r.
        body.statements(0, 1)
        p.put('return r & 1023;')
        p.close()
        p.close()
    else:
        if attribute:
            p.put(attribute)
        returned = {'async': 'async Task<int>', 'iterator': 'IEnumerable<int>'}.get(kind, 'int')
        p.open('static %s %s(%s)' % (returned, name + '<T>' * (kind == 'generic'), 'T v, int i' if kind == 'generic' else 'int i'))
        p.put('int r = i & 7;')
        body.statements(0, 1)
        if kind == 'generic':
            p.put('Sink.O = v;')
            p.put('Sink.O = new List<T>(1);')
            body.kept(0, 1, ())
        if kind == 'async':
            p.put('await Task.CompletedTask;')
        p.put({'iterator': 'yield return r & 1023;'}.get(kind, 'return r & 1023;'))
        p.close()
    p.put('')
    return Method(name, kind, max(1, body.cost))


def put_seed(p, seed):
    rng = random.Random(seed)
    methods = []
    p.open('static class Seed%d' % seed)
    for number in range(METHODS):
        kind = rng.choice(('short', 'plain', 'plain', 'plain', 'plain', 'generic', 'async', 'iterator', 'instance'))
        methods.append(put_method(p, rng, 'M%d' % number, kind, methods[-10:]))
    p.open('public static void Run(int i)')
    p.put('int r = 0;')
    body = Body(p, rng, 'plain', methods)
    for method in methods[-12:]:
        body.callees, body.cost = [method], 0
        body.call(0, 1, ())
    p.close()
    p.close()
    p.put('')


def program(seeds):
    p = Program()
    for seed in range(1, seeds + 1):
        put_seed(p, seed)
    p.open('static class Program')
    p.open('static void Main(string[] args)')
    p.put('int rounds = int.Parse(args[0]);')
    p.put('')
    for seed in range(1, seeds + 1):
        p.put('for (int i = 0; i < rounds; i++)')
        p.put('    Seed%d.Run(i);' % seed)
    p.close()
    p.close()
    p.put('')
    for line in p.types:
        p.put('sealed class T%05d { public int X; public T%05d(int x) { X = x; } }' % (line, line))
    return '\n'.join(p.lines) + '\n'


if __name__ == '__main__':
    text = program(int(sys.argv[1]))
    with open(sys.argv[2], 'w', encoding='utf-8') as out:
        out.write(text)
