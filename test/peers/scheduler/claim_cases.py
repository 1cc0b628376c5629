"""Random pods with claims of devices, for the plugin DynamicResources. The devices are those of device_cases."""
import copy

from device_cases import DRIVERS, DeviceGen

OLD, NEW = "1999-12-31T00:00:00Z", "2030-01-01T00:00:00Z"
# devices may take ten minutes, and the play begins at 2000-01-01
LATE, JUST_IN_TIME = "1999-12-31T23:45:00Z", "1999-12-31T23:50:00Z"


class ClaimGen:
    def __init__(self, gen):
        self.g = gen
        self.r = gen.r

    def case(self):
        g, r = self.g, self.r
        made = DeviceGen.plain_case(g)
        self.keep_short(made)
        self.nodes, self.slices = made["nodes"], made["slices"]
        for n in self.nodes:
            n["metadata"]["labels"]["host"] = n["metadata"]["name"]
        self.all = [(s["spec"]["driver"], s["spec"]["pool"]["name"], d) for s in self.slices for d in s["spec"].get("devices", [])]
        pod = {"metadata": {"name": "p", "namespace": "d", "uid": "u-p"}, "spec": {"containers": [{"name": "c"}], "resourceClaims": []}, "status": {}}
        claims = []
        for i, c in enumerate(made["claims"]):
            c["metadata"]["resourceVersion"] = str(10 + i)
            if g.chance(0.35):
                self.allocate(c)
            elif g.chance(0.12):
                self.strand(c)
            self.name_in(pod, c)
            claims.append(c)
        if g.chance(0.06):
            pod["spec"]["resourceClaims"] = []
        if g.chance(0.05):
            claims.pop()
        if g.chance(0.05):
            r.choice(claims or [{"metadata": {}}])["metadata"].update({"deletionTimestamp": OLD, "finalizers": ["x/y"]})
        claims += self.others(made["allocated"])
        case = {"nodes": self.nodes, "pod": pod, "classes": made["classes"], "slices": self.slices, "claims": claims}
        if g.chance(0.05):
            case["classes"] = case["classes"][1:]
        self.change_server(case)
        case["events"] = [self.event(case) for _ in range(r.randint(2, 5))]
        return case

    def keep_short(self, made):
        """No device is of two drivers. Upstream takes many minutes to find that out where the pod wants many others first."""
        drivers = {c["metadata"]["name"]: self.drivers_of(c["spec"]) for c in made["classes"]}
        before = 0
        for q in [q["exactly"] for c in made["claims"] for q in c["spec"]["devices"]["requests"] if "exactly" in q]:
            if before >= 10 and len(drivers.get(q["deviceClassName"], set()) | self.drivers_of(q)) > 1:
                q.pop("selectors")
            before += q.get("count", 1)

    def drivers_of(self, of):
        texts = [s["cel"]["expression"] for s in of.get("selectors", []) if "cel" in s]
        return {d for d in DRIVERS for t in texts if d in t}

    def name_in(self, pod, c):
        """The pod names the claim, or has it from a template."""
        g, r = self.g, self.r
        name, m = c["metadata"]["name"], c["metadata"]
        entry = {"name": f"of-{name}"}
        kind = g.pick(("name", 6), ("template", 3), ("neither", 0.1))
        if kind == "name":
            entry["resourceClaimName"] = name
        elif kind == "template":
            entry["resourceClaimTemplateName"] = "t"
            if g.chance(0.95):
                s = {"name": entry["name"]}
                if g.chance(0.95):
                    s["resourceClaimName"] = name
                pod["status"].setdefault("resourceClaimStatuses", []).append(s)
            owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u-p" if g.chance(0.95) else "u-q", "controller": g.chance(0.97)}
            if g.chance(0.97):
                m["ownerReferences"] = [owner]
        pod["spec"]["resourceClaims"].append(entry)

    def result(self, request, slow):
        g, r = self.g, self.r
        if not self.all:
            return {"request": request, "driver": "gpu.example.com", "pool": "none", "device": "d0"}
        driver, pool, d = r.choice(self.all)
        x = {"request": request, "driver": driver, "pool": pool, "device": d["name"]}
        if d.get("allowMultipleAllocations") and g.chance(0.8):
            x["shareID"] = f"s{r.randint(0, 99)}"
            x["consumedCapacity"] = {c: r.choice(["1", "2", "100m"]) for c in d.get("capacity", {})}
        if g.chance(0.1):
            x["adminAccess"] = True
        if slow:
            x["bindingConditions"] = ["ready", "linked"][: r.randint(1, 2)]
            x["bindingFailureConditions"] = ["failed"]
        return x

    def allocate(self, c, slow=None):
        """The claim has devices already."""
        g, r = self.g, self.r
        slow = g.chance(0.35) if slow is None else slow
        names = [q["name"] if "exactly" in q else f"{q['name']}/{q['firstAvailable'][-1]['name']}" for q in c["spec"]["devices"]["requests"]]
        results = [self.result(n, slow and g.chance(0.8)) for n in names]
        a = {"devices": {"results": results}}
        kind = g.pick(("everywhere", 4), ("node", 4), ("zone", 2), ("nowhere", 1))
        if kind == "node":
            a["nodeSelector"] = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [r.choice(self.nodes)["metadata"]["name"]]}]}]}
        elif kind == "zone":
            a["nodeSelector"] = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [r.choice(["x", "y"])]}]}]}
        elif kind == "nowhere":
            a["nodeSelector"] = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "host", "operator": "In", "values": ["gone"]}]}]}
        if g.chance(0.8):
            a["allocationTimestamp"] = r.choice([OLD, LATE, JUST_IN_TIME, NEW, NEW, NEW])
        s = c["status"] = {"allocation": a}
        users = g.pick((["p"], 3), ([], 4), (["q"], 2), (["q", "p"], 1), (["q", "o"], 1))
        if users:
            s["reservedFor"] = [{"resource": "pods", "name": n, "uid": f"u-{n}"} for n in users]
        if slow and g.chance(0.8):
            for x in results:
                if g.chance(0.85):
                    kinds = g.pick((["ready", "linked"], 5), (["ready"], 2), (["failed"], 2), ([], 1), (["ready", "failed"], 1))
                    conditions = [{"type": t, "status": g.pick(("True", 9), ("False", 1)), "reason": "R", "message": 'a "m"', "lastTransitionTime": OLD} for t in kinds]
                    s.setdefault("devices", []).append({k: x[k] for k in ("driver", "pool", "device")} | {"conditions": conditions})
        if g.chance(0.7):
            c["metadata"]["finalizers"] = ["resource.kubernetes.io/delete-protection"]

    def strand(self, c):
        """The claim has devices that nobody can use."""
        g = self.g
        self.allocate(c, True)
        s = c["status"]
        if g.chance(0.6):
            s["allocation"]["nodeSelector"] = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "host", "operator": "In", "values": ["gone"]}]}]}
        users = g.pick((["p"], 5), ([], 2), (["q"], 2))
        s["reservedFor"] = [{"resource": "pods", "name": n, "uid": f"u-{n}"} for n in users]

    def others(self, allocated):
        """Claims of other pods, which have devices."""
        claims = []
        for i, d in enumerate(allocated["devices"]):
            claims.append(({**d}, f"o{i}"))
        for i, d in enumerate(allocated["shares"]):
            claims.append(({**d}, f"s{i}"))
        return [{"metadata": {"name": n, "namespace": "d", "uid": f"u-{n}", "resourceVersion": "5"}, "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "class-0", "allocationMode": "ExactCount", "count": 1}}]}}, "status": {"allocation": {"devices": {"results": [{"request": "r", **d}]}}, "reservedFor": [{"resource": "pods", "name": "q", "uid": "u-q"}]}} for d, n in claims]

    def change_server(self, case):
        """Something has happened that the watch has not brought yet."""
        g, r = self.g, self.r
        if not g.chance(0.4) or not case["claims"]:
            return
        c = copy.deepcopy(r.choice(case["claims"][:2]))
        m = c["metadata"]
        m["resourceVersion"] = "50"
        kind = g.pick(("label", 4), ("finalizer", 2), ("allocated", 2), ("gone", 1), ("deleted", 2), ("reserved", 2), ("deallocated", 3))
        if kind == "gone":
            case["gone"] = [m["name"]]
            return
        if kind == "label":
            m["labels"] = {"a": "b"}
        elif kind == "finalizer":
            m["finalizers"] = ["resource.kubernetes.io/delete-protection", "x/y"]
        elif kind == "allocated":
            self.allocate(c, False)
            # upstream would write the pod twice, which the server refuses
            c["status"]["reservedFor"] = [{"resource": "pods", "name": "q", "uid": "u-q"}]
        elif kind == "deleted":
            m.update({"deletionTimestamp": OLD, "finalizers": ["x/y"]})
        elif kind == "deallocated":
            c.pop("status", None)
        elif kind == "reserved" and "status" in c:
            c["status"].setdefault("reservedFor", []).append({"resource": "pods", "name": "z", "uid": "u-z"})
        case["server"] = [c]

    def event(self, case):
        g, r = self.g, self.r
        kind = g.pick(("claim", 7), ("pod", 2), ("class", 1), ("slice", 1))
        if kind == "class":
            return {"resource": "DeviceClass", "action": r.choice(["Add", "Delete"]), "after": {"metadata": {"name": "class-9"}, "spec": {}}}
        if kind == "slice":
            return {"resource": "ResourceSlice", "action": r.choice(["Add", "Update"]), "after": {"metadata": {"name": "slice-9"}, "spec": {"driver": "d", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}}}
        if kind == "pod":
            pod = copy.deepcopy(case["pod"])
            if g.chance(0.3):
                pod["metadata"]["uid"] = "u-other"
            if g.chance(0.4):
                pod["status"].pop("resourceClaimStatuses", None)
            return {"resource": "Pod", "action": "UpdatePodGeneratedResourceClaim", "before": case["pod"], "after": pod}
        after = copy.deepcopy(r.choice(case["claims"])) if case["claims"] and g.chance(0.85) else {"metadata": {"name": "new", "namespace": "d", "uid": "u-new"}, "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "class-0"}}]}}}
        if g.chance(0.3):
            return {"resource": "ResourceClaim", "action": "Add", "after": after}
        before = copy.deepcopy(after)
        kind = g.pick(("label", 2), ("allocate", 2), ("deallocate", 3), ("reserve", 1), ("same", 1))
        if kind == "label":
            after["metadata"]["labels"] = {"a": "b"}
        elif kind == "allocate":
            before.pop("status", None)
        elif kind == "deallocate":
            if "allocation" not in before.get("status", {}):
                before["status"] = {"allocation": {"devices": {"results": [{"request": "r", "driver": "d", "pool": "p", "device": "x"}]}}}
            after.pop("status", None)
        elif kind == "reserve":
            after.setdefault("status", {}).setdefault("reservedFor", []).append({"resource": "pods", "name": "z", "uid": "u-z"})
        return {"resource": "ResourceClaim", "action": "Update", "before": before, "after": after}
