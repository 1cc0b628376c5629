"""Random devices of drivers, and claims of them, for the allocator by structured parameters."""
import copy

ZONE = "topology.kubernetes.io/zone"
DRIVERS = ["gpu.example.com", "net.example.com"]
MODELS = ["a", "b", "c"]
TAINTS = [("broken", "yes"), ("broken", "no"), ("old", "")]
# what is tried by itself in most cases, so that the rest does not hide it
FOCUSES = ["plain", "plain", "pools", "pools", "attributes", "attributes", "distinct", "alternatives", "alternatives", "counters", "counters", "shares", "shares", "shares", "taints", "admin", "binding", "nodes", "all", "many", "configs", "wrong"]


class DeviceGen:
    def __init__(self, gen):
        self.g = gen
        self.r = gen.r
        self.focus = {gen.r.choice(FOCUSES)} | {gen.r.choice(FOCUSES)}
        if gen.chance(0.25):
            self.focus |= set(gen.few(FOCUSES, 1, 3))
        # a search that fails for want of the twentieth device takes kube-scheduler years
        if "many" in self.focus:
            self.focus &= {"many", "plain", "pools", "alternatives", "configs", "all", "admin", "binding", "wrong"}

    @classmethod
    def plain_case(cls, gen):
        """For the kinds of whole pods: long searches are in the kind devices."""
        devices = cls(gen=gen)
        devices.focus -= {"many"}
        devices.focus |= {"plain"}
        return devices.case()

    def on(self, focus, much, little=0.03):
        if focus not in self.focus and "many" in self.focus:
            return False
        return self.g.chance(much if focus in self.focus else little)

    def case(self):
        g, r = self.g, self.r
        self.nodes = [{"metadata": {"name": f"n{i}", "labels": {ZONE: r.choice(["x", "y"]), **({"rack": r.choice(["1", "2"])} if g.chance(0.5) else {})}}} for i in range(r.randint(1, 3))]
        self.slices = []
        self.drivers = DRIVERS[: g.pick((1, 2), (2, 1))]
        for driver in self.drivers:
            for pool in range(g.pick((1, 2), (2, 4), (3, 2))):
                # kube-scheduler mixes up the counters of pools of one name: C100
                self.pool(driver, f"{driver[:3]}-p{pool}")
        r.shuffle(self.slices)
        for i, s in enumerate(self.slices):
            s["metadata"]["name"] = f"{s['metadata']['name']}-{r.randint(0, 9)}{i}"
        classes = [self.klass(i) for i in range(r.randint(1, 3))]
        self.class_names = [c["metadata"]["name"] for c in classes]
        claims = [self.claim(i) for i in range(g.pick((1, 7), (2, 3), (3, 1)))]
        if self.on("wrong", 0.25, 0):
            self.break_something(classes, claims)
        return {"slices": self.slices, "classes": classes, "claims": claims, "allocated": self.allocated(), "nodes": self.nodes}

    # ---- slices ----

    def place(self):
        """Where a slice or a device can be reached."""
        g, r = self.g, self.r
        kind = g.pick(("node", 2), ("all", 5), ("selector", 5 if "nodes" in self.focus else 1))
        if kind == "node":
            return {"nodeName": r.choice(self.nodes)["metadata"]["name"]}
        if kind == "all":
            return {"allNodes": True}
        term = {}
        if g.chance(0.8):
            term["matchExpressions"] = [{"key": ZONE, "operator": "In", "values": r.choice([["x"], ["y"], ["x", "y"], ["y", "x"]])}]
        if g.chance(0.3):
            term.setdefault("matchExpressions", []).append({"key": "rack", "operator": r.choice(["Exists", "DoesNotExist"])})
        if not term or g.chance(0.15):
            term["matchFields"] = [{"key": "metadata.name", "operator": r.choice(["In", "NotIn"]), "values": ["n0"]}]
        return {"nodeSelector": {"nodeSelectorTerms": [term]}}

    def pool(self, driver, name):
        g, r = self.g, self.r
        generation = r.choice([1, 1, 2, 5])
        count = g.pick((1, 3), (2, 3), (3, 1))
        has_counters = self.on("counters", 0.75)
        place = self.place()
        # the devices of several nodes may share counters
        is_spread = has_counters and g.chance(0.6)
        slices = []
        number = 0
        for i in range(count):
            each = copy.deepcopy(place) if g.chance(0.6) else self.place()
            if is_spread:
                each = {"nodeName": f"n{r.randint(0, 1)}"}
            by_device = self.on("nodes", 0.4, 0.05)
            spec = {"driver": driver, "pool": {"name": name, "generation": generation}}
            spec.update({"perDeviceNodeSelection": True} if by_device else each)
            spec["devices"] = []
            for _ in range(40 if "many" in self.focus and i == 0 and g.chance(0.5) else r.randint(1, 4)):
                spec["devices"].append(self.device(driver, number, by_device, has_counters))
                number += 1
            slices.append(spec)
        if has_counters:
            for i in range(g.pick((1, 4), (2, 1))):
                spec = {"driver": driver, "pool": {"name": name, "generation": generation}}
                spec.update(self.place())
                sets = ["s0", "s1"] if i == 0 else ["s2"]
                spec["sharedCounters"] = [{"name": s, "counters": {c: {"value": r.choice(["2", "4", "4", "6", "3Gi", "8"])} for c in ["mem", "cores"]}} for s in sets]
                slices.append(spec)
        for spec in slices:
            spec["pool"]["resourceSliceCount"] = len(slices)
        if self.on("pools", 0.5) or is_spread and g.chance(0.2):
            self.disturb(slices)
        self.slices += [{"metadata": {"name": f"{name}-{r.choice('abc')}"}, "spec": s} for s in slices]

    def disturb(self, slices):
        """What a pool may look like while it is updated, or when its driver has a fault."""
        g, r = self.g, self.r
        for _ in range(g.pick((1, 3), (2, 1))):
            kind = g.pick(("missing", 4), ("older", 3), ("newer", 3), ("newer elsewhere", 3), ("twice", 3), ("unplaced", 1), ("counter set twice", 2), ("unknown counter", 5 if any("consumesCounters" in d for s in slices for d in s.get("devices", [])) else 1))
            one = r.choice(slices)
            if kind == "missing":
                for s in slices:
                    s["pool"]["resourceSliceCount"] += 1
            elif kind in ("older", "newer", "newer elsewhere"):
                s = copy.deepcopy(one)
                s["pool"]["generation"] += -1 if kind == "older" else 1
                s["pool"]["resourceSliceCount"] = g.pick((1, 3), (2, 1))
                if kind == "newer elsewhere":
                    for k in ["nodeName", "allNodes", "nodeSelector", "perDeviceNodeSelection"]:
                        s.pop(k, None)
                    s["nodeName"] = r.choice(["n0", "n1", "elsewhere"])
                slices.append(s)
            elif kind == "twice" and one.get("devices"):
                s = r.choice(slices)
                s.setdefault("devices", [])
                if "sharedCounters" not in s:
                    s["devices"].append(copy.deepcopy(r.choice(one["devices"])))
            elif kind == "unplaced":
                for k in ["nodeName", "allNodes", "nodeSelector", "perDeviceNodeSelection"]:
                    one.pop(k, None)
            elif kind == "counter set twice":
                for s in slices:
                    if "sharedCounters" in s:
                        s["sharedCounters"].append(copy.deepcopy(s["sharedCounters"][0]))
                        break
            elif kind == "unknown counter":
                for d in one.get("devices", []):
                    for use in d.get("consumesCounters", []):
                        if g.chance(0.5):
                            use["counterSet"] = "s9"
                        else:
                            use["counters"]["other"] = {"value": "1"}

    def device(self, driver, number, by_device, has_counters):
        g, r = self.g, self.r
        d = {"name": f"d{number}"}
        if g.chance(0.9):
            a = {"model": {"string": r.choice(MODELS)}, "cores": {"int": r.choice([1, 2, 4])}}
            if self.on("attributes", 0.7, 0.2) or "distinct" in self.focus:
                a["numa"] = {"int": r.choice([0, 1, 2])}
                if g.chance(0.7):
                    a["rack.example.com/id"] = r.choice([{"string": "r1"}, {"string": "r2"}])
                if g.chance(0.6):
                    a["firmware"] = {"version": r.choice(["1.0.0", "1.0.1"])}
                if g.chance(0.6):
                    a["mixed"] = r.choice([{"string": "1"}, {"int": 1}, {"bool": True}, {"bool": False}, {"version": "1.0.0"}])
                if g.chance(0.1):
                    a[f"{driver}/numa"] = {"int": r.choice([0, 1, 7])}
            d["attributes"] = {k: a[k] for k in a if g.chance(0.93)}
        shares = self.on("shares", 0.6, 0.04)
        if shares:
            d["allowMultipleAllocations"] = g.chance(0.85)
        if shares or self.on("shares", 0.4, 0.15):
            d["capacity"] = {}
            if g.chance(0.9):
                d["capacity"]["memory"] = self.capacity()
            if g.chance(0.3):
                d["capacity"]["bandwidth"] = self.capacity()
        if has_counters and g.chance(0.8):
            sets = g.few(["s0", "s1", "s0", "s1"], 1, 2)
            d["consumesCounters"] = [{"counterSet": s, "counters": {c: {"value": r.choice(["1", "2", "2", "3", "500m"])} for c in g.few(["mem", "cores"], 1, 2)}} for s in dict.fromkeys(sets)]
        if by_device:
            d.update(self.place())
        if self.on("taints", 0.5):
            d["taints"] = [{"key": k, **({"value": v} if v else {}), "effect": g.pick(("NoSchedule", 3), ("NoExecute", 3), ("None", 1), ("Later", 1))} for k, v in g.few(TAINTS, 1, 2)]
        if self.on("binding", 0.4):
            d["bindingConditions"] = ["ready"]
            d["bindingFailureConditions"] = ["failed"]
        if self.on("binding", 0.2, 0.02):
            d["bindsToNode"] = True
        return d

    def capacity(self):
        g, r = self.g, self.r
        c = {"value": r.choice(["10", "8", "16", "2Ki", "1500m", "0"])}
        kind = g.pick(("none", 3), ("range", 3), ("values", 2), ("default", 1))
        if kind == "none":
            return c
        c["requestPolicy"] = {"default": r.choice(["1", "2", "4"])}
        if kind == "range":
            v = {"min": r.choice(["1", "2", "0", "512m"])}
            if g.chance(0.5):
                v["max"] = r.choice(["4", "8", "1Ki"])
            if g.chance(0.5):
                v["step"] = r.choice(["1", "2", "3", "500"])
            c["requestPolicy"]["validRange"] = v
        if kind == "values":
            c["requestPolicy"]["validValues"] = r.choice([["1", "2", "4"], ["2", "8"], ["4"]])
        if g.chance(0.1):
            c["requestPolicy"].pop("default")
        return c

    # ---- classes and claims ----

    def klass(self, i):
        g, r = self.g, self.r
        spec = {}
        if g.chance(0.45):
            spec["selectors"] = [{"cel": {"expression": self.expression(r.choice(self.drivers), 1 if "many" in self.focus else 0.85)}}]
        if self.on("configs", 0.7, 0.15):
            spec["config"] = [{"opaque": {"driver": r.choice(self.drivers), "parameters": {"class": i, "n": n}}} for n in range(r.randint(1, 2))]
        return {"metadata": {"name": f"class-{i}"}, "spec": spec}

    def expression(self, driver, only_driver):
        g, r = self.g, self.r
        if g.chance(only_driver):
            return f'device.driver == "{driver}"'
        kind = g.pick(("model", 3), ("cores", 2), ("has", 4), ("bad", 0.3), ("shared", 1), ("both", 2))
        if kind == "shared":
            return f"device.allowMultipleAllocations == {r.choice(['true', 'false'])}"
        has = f'"model" in device.attributes["{driver}"]'
        equal = f'device.attributes["{driver}"].model == "{r.choice(MODELS)}"'
        if kind == "bad":
            return equal
        if kind == "cores":
            return f'"cores" in device.attributes["{driver}"] && device.attributes["{driver}"].cores == {r.choice([1, 2, 4])}'
        return {"model": f"{has} && {equal}", "has": has, "both": f'device.driver == "{driver}" && {has} && {equal}'}[kind]

    def wish(self, exact):
        """A request, or one of its alternatives."""
        g, r = self.g, self.r
        q = {"deviceClassName": r.choice(self.class_names)}
        if self.on("all", 0.6, 0.06):
            q["allocationMode"] = "All"
        else:
            q["allocationMode"] = "ExactCount"
            q["count"] = r.choice([1, 1, 1, 1, 2, 2, 3])
            if "many" in self.focus and g.chance(0.6):
                q["count"] = r.choice([10, 16, 17, 20, 30, 32, 33, 40])
        if g.chance(0.25):
            q["selectors"] = [{"cel": {"expression": self.expression(r.choice(self.drivers), 0.2)}} for _ in range(r.randint(1, 2))]
        if self.on("taints", 0.6, 0.05):
            q["tolerations"] = [self.toleration() for _ in range(r.randint(1, 2))]
        if self.on("shares", 0.6, 0.05):
            q["capacity"] = {"requests": {n: r.choice(["1", "2", "3", "5", "8", "20", "700m", "1100", "0"]) for n in g.few(["memory", "memory", "bandwidth"] + (["other"] if g.chance(0.05) else []), 1, 2)}}
        if exact and self.on("admin", 0.5):
            q["adminAccess"] = g.chance(0.85)
        return q

    def toleration(self):
        g, r = self.g, self.r
        t = {}
        if g.chance(0.8):
            t["key"] = r.choice(["broken", "old"])
        t["operator"] = g.pick(("Exists", 5), ("Equal", 4), ("Other", 1))
        if t["operator"] == "Equal" and g.chance(0.9):
            t["value"] = r.choice(["yes", "no"])
        if g.chance(0.5):
            t["effect"] = r.choice(["NoSchedule", "NoExecute"])
        if g.chance(0.1):
            t.pop("operator")
        return t

    def claim(self, i):
        g, r = self.g, self.r
        requests = []
        for n in range(g.pick((1, 5), (2, 3), (3, 1))):
            if self.on("alternatives", 0.6, 0.06):
                requests.append({"name": f"r{n}", "firstAvailable": [{"name": f"s{k}", **self.wish(False)} for k in range(r.randint(1, 3))]})
            else:
                requests.append({"name": f"r{n}", "exactly": self.wish(True)})
        if "many" in self.focus:
            self.keep_small(requests)
        names = [q["name"] for q in requests]
        full = names + [f"{q['name']}/{s['name']}" for q in requests for s in q.get("firstAvailable", [])]
        devices = {"requests": requests}
        constraints = []
        if self.on("attributes", 0.7, 0.05):
            constraints += [self.constraint("matchAttribute", full) for _ in range(g.pick((1, 3), (2, 1)))]
        if self.on("distinct", 0.7, 0.02):
            constraints += [self.constraint("distinctAttribute", full) for _ in range(g.pick((1, 3), (2, 1)))]
        if constraints:
            devices["constraints"] = constraints
        if self.on("configs", 0.6, 0.1):
            devices["config"] = [{**({"requests": g.few(full, 1, 3)} if g.chance(0.7) else {}), "opaque": {"driver": r.choice(self.drivers), "parameters": {"claim": i, "n": n}}} for n in range(r.randint(1, 2))]
        return {"metadata": {"name": f"c{i}", "namespace": "d", "uid": f"u{i}"}, "spec": {"devices": devices}}

    def keep_small(self, requests):
        devices = max([len(s["spec"].get("devices", [])) for s in self.slices] + [0])
        for q in requests:
            for w in q.get("firstAvailable", []) + ([q["exactly"]] if "exactly" in q else []):
                if 3 < w.get("count", 0) <= 32 and (devices < 40 or len(requests) > 1 and self.g.chance(0.2)):
                    w["count"] = self.r.choice([1, 2])
                if w.get("count", 0) > 3:
                    w.pop("selectors", None)

    def constraint(self, kind, full):
        g, r = self.g, self.r
        driver = r.choice(self.drivers)
        name = g.pick((f"{driver}/numa", 5), ("rack.example.com/id", 2), (f"{driver}/firmware", 2), (f"{driver}/mixed", 2), (f"{driver}/model", 2), ("other.example.com/numa", 0.3))
        return {kind: name, **({"requests": g.few(full, 1, 3)} if g.chance(0.45) else {})}

    def break_something(self, classes, claims):
        g, r = self.g, self.r
        requests = r.choice(claims)["spec"]["devices"]["requests"]
        q = r.choice(requests)
        w = q.get("exactly") or r.choice(q["firstAvailable"])
        kind = g.pick(("class", 2), ("no class", 1), ("mode", 1), ("constraint", 1), ("selector", 1), ("expression", 2), ("class expression", 2))
        if kind == "class":
            w["deviceClassName"] = "missing"
        elif kind == "no class":
            w["deviceClassName"] = ""
        elif kind == "mode":
            w["allocationMode"] = "Some"
        elif kind == "constraint":
            r.choice(claims)["spec"]["devices"].setdefault("constraints", []).append({"requests": [q["name"]]})
        elif kind == "selector":
            w["selectors"] = [{}]
        elif kind == "expression":
            w["selectors"] = [{"cel": {"expression": "device.driver =="}}]
        else:
            classes[0]["spec"]["selectors"] = [{"cel": {"expression": "device.driver =="}}]

    def allocated(self):
        g, r = self.g, self.r
        devices, shares = [], []
        p = g.pick((0, 3), (0.15, 3), (0.4, 1)) if "many" not in self.focus else g.pick((0, 2), (0.03, 1))
        for s in self.slices:
            for d in s["spec"].get("devices", []):
                if not g.chance(max(p, 0.3) if "consumesCounters" in d else p):
                    continue
                name = {"driver": s["spec"]["driver"], "pool": s["spec"]["pool"]["name"], "device": d["name"]}
                if d.get("allowMultipleAllocations") and g.chance(0.9):
                    for n in range(g.pick((1, 3), (2, 1))):
                        share = {**name, "shareID": f"s{len(shares)}"}
                        if g.chance(0.9):
                            share["consumedCapacity"] = {c: r.choice(["1", "2", "4", "1Ki", "100m", "0"]) for c in d.get("capacity", {})}
                        shares.append(share)
                else:
                    devices.append(name)
        return {"devices": devices, "shares": shares}
