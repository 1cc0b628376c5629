"""Random expressions of device selectors, with devices to ask them about."""
import re

DOMAINS = ["gpu.example.com", "other.example.com", "absent.example.com"]
NAMES = ["model", "cores", "healthy", "version", "memory", "absent"]
WORDS = ["", "a", "A100", "a-1", "é😀", "1", "true", "1.2.3", "gpu", "A100-SXM", "  x ", "a,b,c", "10Gi", "-5", "1e3", "v1.2", "\\n", "É", "gpugpu"]
QUANTITIES = ["0", "1", "10Gi", "40Gi", "1500m", "1k", "2M", "0.5", "1e3", "-1", "100n", "9223372036854775807", "1Ei", "16Ei", "12345678901234567890", "1.5Gi", "0.1", "1E", "x", "", "1 Gi", "1gi", "+3", ".5", "5.", "1e-3"]
VERSIONS = ["1.0.0", "1.2.3", "1.2.3-alpha", "1.2.3-alpha.1", "1.2.3-alpha.beta", "1.2.3+build", "2.0.0-rc.1+x", "0.0.1", "10.2.3", "1.2", "v1.2.3", "1", "01.2.3", "1.2.3-01", "", "x", "1.2.3-", "v1", "1.0.0.0", "18446744073709551616.0.0"]
PATTERNS = ["^A", "a+", "(?i)a100", "[0-9]+", "^$", "(a+)+$", "(a|aa)*b", "\\\\d+", "x*", "(", "[", "a{1,3}", "a{2000}", "(?P<n>a)", "(?=a)", "\\\\1", "\\\\pL", "[[:alpha:]]+", ".*.*.*=.*", "^(([a-z])+.)+[A-Z]([a-z])+$", "\\\\bA", "a|b", "(?s).", "é", "\\\\x{1F600}", "a**", "\\\\C", "\\\\Q.\\\\E", "[^a]", "(?U)a+", "a*?"]
INTS = ["0", "1", "-1", "2", "3", "7", "8", "10", "100", "9223372036854775807", "-9223372036854775808", "0x1F", "9223372036854775808"]
UINTS = ["0u", "1u", "8u", "18446744073709551615u", "0x10u", "18446744073709551616u"]
DOUBLES = ["0.0", "1.0", "1.5", "-2.5", "8.0", "1e3", ".5", "1e308", "9223372036854775808.0", "1e-9", "1e400"]


# upstream makes the whole list before it looks at its length, and ends for want of memory: C96
ENDLESS = re.compile(r"lists\.range\([^)]*((?<![-\d])\d{7}|device\.(attributes|capacity))")


class SelectorGen:
    def __init__(self, g):
        self.g, self.r = g, g.r
        self.names = []  # variables in sight: (name, type)

    def one(self, of):
        return self.r.choice(of)

    # ---- devices ----

    def attribute(self, name):
        kind = {"model": "string", "cores": "int", "healthy": "bool", "version": "version", "memory": "int"}.get(name, "string")
        if self.g.chance(0.1):
            kind = self.one(["string", "int", "bool", "version"])
        return {kind: {"string": lambda: self.one(WORDS).replace("\\n", "\n"), "int": lambda: self.one([0, 1, 7, 8, -3, 100, 4503599627370496]), "bool": lambda: self.g.chance(0.5), "version": lambda: self.one(VERSIONS[:9])}[kind]()}

    def device(self):
        d = {"driver": self.one(DOMAINS[:2]), "attributes": {}, "capacity": {}}
        for name in self.g.few(NAMES[:5], 0, 5):
            d["attributes"][self.one(["", "", DOMAINS[0] + "/", DOMAINS[1] + "/"]) + name] = self.attribute(name)
        for name in self.g.few(["memory", "cores"], 0, 2):
            d["capacity"][self.one(["", "", DOMAINS[0] + "/", DOMAINS[1] + "/"]) + name] = {"value": self.one(QUANTITIES[:18])}
        if self.g.chance(0.4):
            d["allowMultipleAllocations"] = self.g.chance(0.6)
        if self.g.chance(0.03):
            d["attributes"]["version"] = {"version": self.one(VERSIONS[9:])}
        if self.g.chance(0.02):
            d["attributes"]["none"] = {}
        return d

    # ---- expressions: one method for each type, and "any" for attributes ----

    def text(self, s):
        q = self.one(['"', '"', '"', "'"])
        if self.g.chance(0.05) and "\n" not in s and "\\" not in s:
            return self.one(["r", "R"]) + q + s + q
        if self.g.chance(0.05):
            return q * 3 + s + q * 3
        return q + s + q

    def domain(self):
        return self.text(self.one(DOMAINS)) if self.g.chance(0.8) else self.one(["device.driver", "device.driver + ''", self.string(1)])

    def any(self, depth=2):
        """an attribute"""
        r = self.r.random()
        domain, name = self.domain(), self.one(NAMES)
        base = f"device.attributes[{domain}]"
        if r < 0.55:
            return f"{base}.{name}"
        if r < 0.65:
            return f"{base}[{self.text(name)}]"
        if r < 0.7:
            return f"dyn({self.some(depth - 1)})"
        if r < 0.8:
            return f"{base}.?{name}.orValue({self.some(depth - 1)})"
        if r < 0.88:
            return f"{base}[?{self.text(name)}].{self.one(['value()', f'orValue({self.some(depth - 1)})', 'or(optional.none()).value()', f'or(optional.of({self.some(depth - 1)})).value()'])}"
        if r < 0.94:
            return f"({self.bool(depth - 1)} ? {base}.{name} : {self.some(depth - 1)})"
        return f"device.?attributes[{domain}].{name}.orValue({self.some(depth - 1)})"

    def some(self, depth):
        return getattr(self, self.one(["string", "string", "int", "bool", "double", "uint", "quantity", "semver", "any", "list", "map", "optional", "bytes", "typ", "nil"]))(depth)

    def nil(self, depth):
        return "null"

    def typ(self, depth):
        return self.one(["int", "string", "bool", "type", "list", "map", "double", "uint", "bytes", "null_type", "kubernetes.Quantity", "kubernetes.Semver", "optional_type", f"type({self.some(depth - 1)})"])

    def bytes(self, depth):
        return self.one(['b"abc"', "b'\\xff\\000'", 'b""', f"bytes({self.string(depth - 1)})", 'b"é" + b"x"'])

    def variable(self, kind):
        fitting = [n for n, k in self.names if k == kind or k == "any"]
        return self.one(fitting) if fitting and self.g.chance(0.5) else None

    def wrong(self, depth, right):
        """now and then something of another type"""
        return self.some(depth - 1) if self.g.chance(0.03) else right()

    def string(self, depth):
        v = self.variable("string")
        if v:
            return v
        if depth <= 0 or self.g.chance(0.35):
            return self.text(self.one(WORDS)) if self.g.chance(0.8) else "device.driver"
        s = lambda: self.wrong(depth, lambda: self.string(depth - 1))
        i = lambda: self.wrong(depth, lambda: self.smallint(depth - 1))
        return self.one([
            lambda: f"{s()} + {s()}", lambda: f"{s()}.lowerAscii()", lambda: f"{s()}.upperAscii()", lambda: f"{s()}.trim()",
            lambda: f"{s()}.charAt({i()})", lambda: f"{s()}.substring({i()})", lambda: f"{s()}.substring({i()}, {i()})",
            lambda: f"{s()}.replace({s()}, {s()})", lambda: f"{s()}.replace({s()}, {s()}, {i()})", lambda: f"{self.strings(depth - 1)}.join()", lambda: f"{self.strings(depth - 1)}.join({s()})",
            lambda: f"strings.quote({s()})", lambda: f"string({self.some(depth - 1)})", lambda: f"{s()}.find({self.text(self.one(PATTERNS))})",
            lambda: f"({self.bool(depth - 1)} ? {s()} : {s()})", lambda: self.any(depth - 1), lambda: f"{self.strings(depth - 1)}[{i()}]", lambda: f"{self.strings(depth - 1)}.{self.one(['min', 'max'])}()",
            lambda: f"optional.of({s()}).orValue({s()})", lambda: f"cel.bind({self.bind('string', lambda n: f'{n}, {s()}, {self.string(depth - 1)}')})",
        ])()

    def bind(self, kind, body):
        n = self.one(["x", "y", "z", "v"])
        self.names.append((n, kind))
        out = body(n)
        self.names.pop()
        return out

    def smallint(self, depth):
        return self.one(["0", "1", "2", "3", "-1", "5"]) if self.g.chance(0.7) else self.int(depth)

    def int(self, depth):
        v = self.variable("int")
        if v:
            return v
        if depth <= 0 or self.g.chance(0.35):
            return self.one(INTS[:12] if self.g.chance(0.98) else INTS)
        i = lambda: self.wrong(depth, lambda: self.int(depth - 1))
        s = lambda: self.wrong(depth, lambda: self.string(depth - 1))
        return self.one([
            lambda: f"{i()} {self.one('+-*/%')} {i()}", lambda: f"({i()} {self.one('+-*/%')} {i()})", lambda: f"-({i()})", lambda: f"size({self.sized(depth - 1)})", lambda: f"{self.sized(depth - 1)}.size()",
            lambda: f"{s()}.indexOf({s()})", lambda: f"{s()}.lastIndexOf({s()})", lambda: f"{s()}.indexOf({s()}, {self.smallint(0)})", lambda: f"{s()}.lastIndexOf({s()}, {self.smallint(0)})",
            lambda: f"int({self.one([self.int, self.uint, self.double, self.string, self.any])(depth - 1)})", lambda: f"{self.list(depth - 1)}.{self.one(['sum', 'min', 'max'])}()", lambda: f"{self.list(depth - 1)}[{self.smallint(0)}]",
            lambda: f"{self.list(depth - 1)}.indexOf({self.some(depth - 1)})", lambda: f"{self.list(depth - 1)}.lastIndexOf({i()})", lambda: f"{self.quantity(depth - 1)}.{self.one(['asInteger()', 'compareTo(' + self.quantity(depth - 1) + ')'])}",
            lambda: f"sign({self.quantity(depth - 1)})", lambda: f"{self.semver(depth - 1)}.{self.one(['major()', 'minor()', 'patch()', 'compareTo(' + self.semver(depth - 1) + ')'])}",
            lambda: f"({self.bool(depth - 1)} ? {i()} : {i()})", lambda: self.any(depth - 1), lambda: f"{self.map(depth - 1)}[{self.text(self.one(['a', 'b', 'c']))}]", lambda: f"{self.optional(depth - 1)}.{self.one(['value()', f'orValue({i()})'])}",
        ])()

    def uint(self, depth):
        if depth <= 0 or self.g.chance(0.5):
            return self.one(UINTS[:5] if self.g.chance(0.98) else UINTS)
        return self.one([lambda: f"{self.uint(depth - 1)} {self.one('+-*/%')} {self.uint(depth - 1)}", lambda: f"uint({self.one([self.int, self.uint, self.double, self.string, self.any])(depth - 1)})"])()

    def double(self, depth):
        if depth <= 0 or self.g.chance(0.5):
            return self.one(DOUBLES[:10] if self.g.chance(0.98) else DOUBLES)
        return self.one([lambda: f"{self.double(depth - 1)} {self.one('+-*/')} {self.double(depth - 1)}", lambda: f"double({self.one([self.int, self.uint, self.double, self.string, self.any])(depth - 1)})", lambda: f"{self.quantity(depth - 1)}.asApproximateFloat()", lambda: f"-({self.double(depth - 1)})"])()

    def quantity(self, depth):
        r = self.r.random()
        if depth <= 0 or r < 0.4:
            return f"quantity({self.text(self.one(QUANTITIES[:18] if self.g.chance(0.9) else QUANTITIES))})"
        if r < 0.75:
            return f"device.capacity[{self.domain()}].{self.one(['memory', 'cores', 'absent'])}"
        if r < 0.9:
            return f"{self.quantity(depth - 1)}.{self.one(['add', 'sub'])}({self.one([self.quantity, self.int])(depth - 1)})"
        if r < 0.95:
            return f"({self.bool(depth - 1)} ? {self.quantity(depth - 1)} : {self.quantity(depth - 1)})"
        return self.any(depth - 1)

    def semver(self, depth):
        r = self.r.random()
        if depth <= 0 or r < 0.4:
            v = self.text(self.one(VERSIONS[:9] if self.g.chance(0.85) else VERSIONS))
            return f"semver({v})" if self.g.chance(0.6) else f"semver({v}, {self.one(['true', 'true', 'false'])})"
        if r < 0.9:
            return f"device.attributes[{self.domain()}].version"
        return self.any(depth - 1)

    def sized(self, depth):
        return self.one([self.string, self.list, self.map, self.strings, self.bytes, self.any])(depth)

    def strings(self, depth):
        if depth <= 0 or self.g.chance(0.4):
            return "[" + ", ".join(self.string(0) for _ in range(self.r.randint(0, 3))) + "]"
        return self.one([
            lambda: f"{self.string(depth - 1)}.split({self.text(self.one(['', ',', '-', 'a']))})", lambda: f"{self.string(depth - 1)}.split({self.text(self.one(['', ',', '-']))}, {self.smallint(0)})",
            lambda: f"{self.string(depth - 1)}.findAll({self.text(self.one(PATTERNS))})", lambda: f"{self.string(depth - 1)}.findAll({self.text(self.one(PATTERNS))}, {self.smallint(0)})",
            lambda: f"device.attributes.{self.loop('map', 'string', depth, lambda d: self.string(d))}", lambda: f"{self.strings(depth - 1)} + {self.strings(depth - 1)}", lambda: f"{self.strings(depth - 1)}.{self.one(['sort()', 'reverse()', 'distinct()'])}",
            lambda: f"{self.strings(depth - 1)}.{self.loop('map', 'string', depth, self.string)}", lambda: f"{self.strings(depth - 1)}.{self.loop('filter', 'string', depth, self.bool)}",
        ])()

    def loop(self, name, kind, depth, body):
        return self.bind(kind, lambda n: f"{name}({n}, {body(depth - 1)})")

    def loop2(self, name, kinds, depth, body):
        a, b = self.g.few(["x", "y", "z", "v", "k"], 2, 2) if self.g.chance(0.97) else ("x", "x")
        self.names += [(a, kinds[0]), (b, kinds[1])]
        out = f"{name}({a}, {b}, {body(depth - 1)})"
        del self.names[-2:]
        return out

    def list(self, depth):
        if depth <= 0 or self.g.chance(0.35):
            elements = [self.int, self.int, self.int, self.double, self.bool, self.uint, self.any, self.string, self.semver, self.quantity]
            kind = self.one(elements)
            parts = [(kind if self.g.chance(0.97) else self.one(elements))(0) for _ in range(self.r.randint(0, 3))]
            if self.g.chance(0.1):
                parts.append("?" + self.optional(0))
            return "[" + ", ".join(parts) + self.one(["", "", "", ","]) + "]"
        return self.one([
            lambda: f"{self.list(depth - 1)} + {self.list(depth - 1)}", lambda: f"lists.range({self.smallint(depth - 1)})", lambda: f"{self.list(depth - 1)}.{self.one(['sort()', 'reverse()', 'distinct()'])}",
            lambda: f"{self.list(depth - 1)}.slice({self.smallint(0)}, {self.smallint(0)})", lambda: f"[{self.list(depth - 1)}, {self.list(depth - 1)}].flatten()", lambda: f"[[{self.list(depth - 1)}]].flatten({self.smallint(0)})",
            lambda: f"{self.list(depth - 1)}.{self.loop('map', 'int', depth, self.int)}", lambda: f"{self.list(depth - 1)}.{self.loop('filter', 'int', depth, self.bool)}", lambda: f"{self.list(depth - 1)}.{self.loop('sortBy', 'int', depth, self.int)}",
            lambda: self.list(depth - 1) + "." + self.bind("int", lambda n: f"map({n}, {self.bool(depth - 1)}, {self.int(depth - 1)})"), lambda: f"{self.list(depth - 1)}.{self.loop2('transformList', ('int', 'int'), depth, self.int)}",
            lambda: f"[{self.optional(depth - 1)}, {self.optional(depth - 1)}].unwrapOpt()", lambda: f"optional.unwrap([{self.optional(depth - 1)}])",
        ])()

    def map(self, depth):
        if depth <= 0 or self.g.chance(0.5):
            kind = self.one([self.int, self.int, self.string, self.any, self.bool])
            # upstream ends with a panic where what is optional in a map is of an unknown type
            entries = [f"?{self.text(k)}: {self.optional(0)}" if self.g.chance(0.05) else f"{self.text(k)}: {kind(0)}" for k in self.g.few(["a", "b", "c"], 0, 3)]
            return "{" + ", ".join(entries) + "}"
        return self.one([
            lambda: f"{self.map(depth - 1)}.{self.loop2('transformMap', ('string', 'int'), depth, self.int)}", lambda: f"{self.list(depth - 1)}.{self.loop2('transformMap', ('int', 'int'), depth, self.int)}",
            lambda: f"{self.list(depth - 1)}.{self.loop2('transformMapEntry', ('int', 'int'), depth, lambda d: '{' + self.string(d) + ': ' + self.int(d) + '}')}", lambda: f"device.attributes[{self.domain()}]", lambda: f"{{{self.int(0)}: {self.string(0)}, {self.int(0)}: {self.string(0)}}}",
            lambda: f"{{{self.one(['1', '1u', '1.0', 'true', 'null', 'b' + chr(34) + chr(34)])}: {self.int(0)}}}",
        ])()

    def optional(self, depth):
        return self.one([
            lambda: "optional.none()", lambda: f"optional.of({self.int(depth - 1)})", lambda: f"optional.ofNonZeroValue({self.some(depth - 1)})", lambda: f"{self.map(depth - 1)}.?a", lambda: f"{self.map(depth - 1)}[?{self.text('b')}]",
            lambda: f"{self.list(depth - 1)}[?{self.smallint(0)}]", lambda: f"{self.list(depth - 1)}.{self.one(['first()', 'last()'])}", lambda: f"device.attributes[{self.domain()}].?{self.one(NAMES)}", lambda: f"device.attributes[{self.domain()}].?{self.one(NAMES)}.or({self.optional(depth - 1)})" if depth > 0 else "optional.of(1)",
            lambda: f"{self.optional(depth - 1)}.{self.loop('optMap', 'any', depth, self.int)}" if depth > 0 else "optional.none()", lambda: f"{self.optional(depth - 1)}.{self.loop('optFlatMap', 'any', depth, self.optional)}" if depth > 0 else "optional.none()",
        ])()

    def bool(self, depth):
        v = self.variable("bool")
        if v and depth < 3:
            return v
        if depth <= 0 or self.g.chance(0.08):
            return self.one(["true", "false", "device.allowMultipleAllocations", f"has(device.attributes[{self.domain()}].{self.one(NAMES)})"])
        b = lambda: self.wrong(depth, lambda: self.bool(depth - 1))
        s = lambda: self.wrong(depth, lambda: self.string(depth - 1))
        kind = self.one([self.int, self.int, self.string, self.string, self.any, self.any, self.double, self.uint, self.bool, self.list, self.map, self.semver, self.quantity, self.bytes, self.optional, self.typ])
        other = kind if self.g.chance(0.75) else self.one([self.any, self.any, self.int, self.double, self.some])
        return self.one([
            lambda: f"{b()} && {b()}", lambda: f"{b()} || {b()}", lambda: f"!({b()})", lambda: f"({b()} ? {b()} : {b()})", lambda: f"({b()} && {b()}) || {b()}",
            *[lambda: f"{kind(depth - 1)} {self.one(['==', '!='])} {other(depth - 1)}"] * 4, *[lambda: f"{kind(depth - 1)} {self.one(['<', '<=', '>', '>='])} {other(depth - 1)}"] * 3,
            lambda: f"{self.any(depth - 1)} in [{', '.join(self.one([self.string, self.int])(0) for _ in range(self.r.randint(0, 2)))}]", lambda: f"{kind(depth - 1)} in {self.list(depth - 1)}", lambda: f"{s()} in {self.map(depth - 1)}", lambda: f"{self.domain()} in device.attributes",
            lambda: f"has({self.one(['device.attributes', 'device.capacity'])}[{self.domain()}].{self.one(NAMES)})", lambda: f"has({self.map(depth - 1)}.a)", lambda: f"has(device.{self.one(['driver', 'attributes', 'nothing', 'allowMultipleAllocations'])})",
            lambda: f"{s()}.{self.one(['contains', 'startsWith', 'endsWith'])}({s()})", *[lambda: f"{s()}.matches({self.text(self.one(PATTERNS))})"] * 2, lambda: f"matches({s()}, {self.text(self.one(PATTERNS))})", lambda: f"{s()}.matches({s()})",
            *[lambda: f"{self.quantity(depth - 1)}.{self.one(['isGreaterThan', 'isLessThan'])}({self.quantity(depth - 1)})"] * 2, lambda: f"{self.quantity(depth - 1)}.isInteger()", lambda: f"isQuantity({self.one([self.string(0), self.text(self.one(QUANTITIES))])})",
            *[lambda: f"{self.semver(depth - 1)}.{self.one(['isGreaterThan', 'isLessThan'])}({self.semver(depth - 1)})"] * 2, lambda: f"isSemver({self.text(self.one(VERSIONS))})", lambda: f"isSemver({self.text(self.one(VERSIONS))}, {self.one(['true', 'false'])})",
            *[lambda: f"{self.list(depth - 1)}.{self.loop(self.one(['all', 'exists', 'exists_one', 'existsOne']), 'int', depth, self.bool)}"] * 2, lambda: f"{self.strings(depth - 1)}.{self.loop(self.one(['all', 'exists', 'exists_one']), 'string', depth, self.bool)}",
            lambda: f"{self.one([self.list, self.map])(depth - 1)}.{self.loop2(self.one(['all', 'exists', 'existsOne', 'exists_one']), ('int', 'int'), depth, self.bool)}", lambda: f"device.attributes[{self.domain()}].{self.loop(self.one(['all', 'exists']), 'string', depth, self.bool)}", lambda: f"{self.any(depth - 1)}.{self.loop('exists', 'string', depth, self.bool)}",
            lambda: f"sets.{self.one(['contains', 'equivalent', 'intersects'])}({self.list(depth - 1)}, {self.list(depth - 1)})", lambda: f"{self.list(depth - 1)}.isSorted()", lambda: f"{self.optional(depth - 1)}.hasValue()", lambda: f"bool({self.one([self.string, self.bool, self.any])(depth - 1)})",
            lambda: f"cel.bind({self.bind('any', lambda n: f'{n}, {self.some(depth - 1)}, {self.bool(depth - 1)}')})", lambda: f"cel.bind({self.bind('map', lambda n: f'{n}, device.attributes[{self.domain()}], has({n}.{self.one(NAMES)}) && {self.bool(depth - 1)}')})", lambda: self.any(depth - 1),
            lambda: f"type({self.some(depth - 1)}) == {self.typ(0)}",
        ])()

    # ---- what real selectors look like, what is broken, and what is long ----

    def plain(self):
        d = self.one(DOMAINS)
        return self.one([
            f'device.driver == "{d}"', f'device.driver == "{d}" && device.attributes["{d}"].model == "A100"', f'device.attributes["{d}"].model.startsWith("A")', f'device.capacity["{d}"].memory.compareTo(quantity("{self.one(QUANTITIES[:10])}")) >= 0',
            f'"{self.one(NAMES)}" in device.attributes["{d}"] && device.attributes["{d}"].{self.one(NAMES)} == {self.some(0)}', f'device.attributes["{d}"].version.isGreaterThan(semver("{self.one(VERSIONS[:9])}"))', f'cel.bind(a, device.attributes["{d}"], a.healthy && a.cores >= {self.int(0)})',
            f'device.attributes["{d}"].{self.one(NAMES)}', f'!device.attributes["{d}"].?healthy.orValue(false)', f'device.attributes["{d}"].model in ["A100", "a"]', f'device.attributes["{d}"].cores in [7, 8]', f'device.attributes["{d}"].version in ["1.2.3"]', "device.allowMultipleAllocations == true",
            f'quantity("{self.one(QUANTITIES)}").compareTo(quantity("{self.one(QUANTITIES)}")) {self.one(["<", "==", ">"])} 0', f'semver("{self.one(VERSIONS[:9])}").compareTo(semver("{self.one(VERSIONS[:9])}")) {self.one(["<", "==", ">"])} 0',
            f'device.attributes["{d}"].?version.optMap(v, v.major()).orValue(0) == 1', f'device.capacity["{d}"].?memory.hasValue()', f'device.attributes.exists(d, d == "{d}")', f'device.attributes["{d}"].all(n, n != "cores" || device.attributes["{d}"][n] > 3)',
        ])

    def broken(self, e):
        k = self.r.randrange(7)
        at = self.r.randrange(len(e) + 1)
        if k == 0:
            return e[:at] + e[at + 1:]
        if k == 1:
            return e[:at] + self.one(["(", ")", "[", "]", "{", "}", ".", ",", "!", "-", "?", ":", "'", '"', "\\", "`a`", "&&", "//", "#", "=", " in ", "\n"]) + e[at:]
        if k == 2:
            return e.replace("device", self.one(["Device", "devices", ".device", "device.driver"]), 1)
        if k == 3:
            return self.one(["if", "let x", "null", "", "()", "1", "'a'", "[]", "{}", "device", "dyn(true)", "true ? true : 1", "a.b.c(1)", "google.protobuf.Foo{}", "has(device)", "has(1)", "[1, 'a'] == []", "{1: 1, 'a': 2} == {}", "optional.none()", "[].map(1, 2)", "cel.bind(1, 2, 3)", "noSuch()", "device.noSuch()", "sum([1])", "true.size()", "in", "for", "device.driver.x == 1", ".device.driver == ''", "[1][?0].hasValue() && [?1] == []"])
        if k == 4:
            # upstream's parser takes seconds for deep nesting
            n = self.one([249, 250, 251]) if self.g.chance(0.1) else self.one([1, 3, 9])
            return "(" * n + "true" + ")" * (n if self.g.chance(0.8) else n - 1)
        if k == 5:
            n = self.one([248, 249, 250, 251, 252, 300]) if self.g.chance(0.15) else self.one([2, 10, 20])
            return self.one(["1" + "+1" * n + " > 0", "!" * n + "true", "true" + " && true" * n, "[" * n + "1" + "]" * n + ".size() > 0", "true ? true : " * n + "false", "-" * n + "1 < 2", "{'a': " * n + "1" + "}" * n + " != {}", "device.driver" + ".trim()" * n + " != ''", "1" + " < 1" * n])
        return e + self.one([" && ", " || true", "?", " == 1", ".x", "()", "[0]", " // done", "\t\n"])

    def long(self):
        n = self.one([10, 60, 100, 200, 400, 500, 600, 700, 800, 900, 1000, 2000])
        a = self.one([10, 90, 300, 1000])
        m = min(n, 1000)  # upstream counts only afterwards what it has held against each other
        return self.one([
            f"lists.range({self.one([n, 100000])}).all(x, lists.range({a}).all(y, x + y >= 0))", f"lists.range({n}).map(x, x * 2).filter(x, x % 3 == 0).size() > 1", f"lists.range({n}).exists(x, lists.range({a}).exists(y, x * y < 0))",
            f"lists.range({n}).map(x, 'a').join().matches('{self.one(['(a+)+$', '(a|aa)+$', '^(a?){20}a{20}$', '(.*)*x', 'a{100}'])}')", f"lists.range({m}).distinct().size() == {m}", f"sets.contains(lists.range({m}), lists.range({a}))", f"lists.range({n}).sort().sum() > 1",
            f"lists.range({n}).map(x, string(x)).join(',').split(',').size() == {n}", f"lists.range({n}).all(x, x in lists.range({a}))", f"lists.range({n}).map(x, {{'a': x}}).all(m, has(m.a) && m.a >= 0)", f"cel.bind(l, lists.range({n}), l.all(x, l[x] == x))", f"lists.range({n}).transformMap(i, v, v).size() == {n}",
            f"lists.range({n}).map(x, 'abcdefghij').join().contains('{'abcdefghij' * 5}x')", f"lists.range({n}).map(x, [x, x]).flatten().reverse().indexOf({a}) > 0", f"lists.range({n}).sortBy(x, -x)[0] == {n - 1}", f"lists.range({n}).map(x, 'é').join().replace('é', 'ab').size() == {2 * n}", f"lists.range({n}).exists_one(x, x == {a})",
            f"lists.range({n}).map(x, optional.of(x)).unwrapOpt().max() > {a}", f"lists.range({n}).all(x, device.attributes[device.driver].?cores.orValue(x) >= 0)", f"lists.range({n}).map(x, lists.range({a})) == lists.range({n}).map(x, lists.range({a}))",
            f"lists.range({n}).all(x, has(device.attributes['a'].b) ? false : x < {n})", f"lists.range({n}).all(x, lists.range(3)[x % 3] >= 0 && [1, 2, x].size() == 3)", f"lists.range({n}).all(x, x / (x - {a}) >= -1000000)", f"lists.range({n}).all(x, 'abc'.find('b') == 'b' && 'abc'.substring(1) == 'bc')",
        ])

    def expression(self):
        r = self.r.random()
        if r < 0.2:
            return self.plain()
        if r < 0.3:
            return self.broken(self.one([self.plain(), self.bool(2)]))
        if r < 0.36:
            return self.long()
        return self.bool(self.one([1, 2, 2, 3, 3, 4]))

    def case(self):
        devices = [self.device() for _ in range(3)]
        expressions = []
        while len(expressions) < 12:
            e = self.expression()
            if len(e.encode()) < 10000 and not ENDLESS.search(e):
                expressions.append(e)
        return {"expressions": expressions, "devices": devices}
