"""Random pods with extended resources, some of which classes of devices stand for. The devices are those of device_cases."""
import copy

from claim_cases import ClaimGen
from device_cases import DeviceGen

OLD, NEW = "1999-12-31T00:00:00Z", "1999-12-31T00:01:00Z"
GPU, NET, OTHER = "example.com/gpu", "example.com/net", "example.com/other"
PREFIX = "deviceclass.resource.kubernetes.io/"


class ExtendedClaimGen:
    def __init__(self, gen):
        self.g = gen
        self.r = gen.r

    def case(self):
        g, r = self.g, self.r
        made = DeviceGen.plain_case(g)
        self.nodes, self.slices, self.classes = made["nodes"], made["slices"], made["classes"]
        self.name_classes()
        self.pod = {"metadata": {"name": "p", "namespace": "d", "uid": "u-p"}, "spec": self.spec(), "status": {}}
        if g.chance(0.15):
            mappings = [{"containerName": "c0", "resourceName": GPU, "requestName": "container-0-request-0"}]
            self.pod["status"]["extendedResourceClaimStatus"] = {"requestMappings": mappings, "resourceClaimName": "p-extended-resources-old"}
        claims = []
        if g.chance(0.25):
            c = made["claims"][0]
            c["metadata"]["resourceVersion"] = "10"
            self.pod["spec"]["resourceClaims"] = [{"name": "own", "resourceClaimName": c["metadata"]["name"]}]
            claims.append(c)
        self.give(bool(claims))
        if g.chance(0.12):
            claims.append(self.left())
        for share in made["allocated"]["shares"]:
            # a server leaves out what is empty
            if not share.get("consumedCapacity", True):
                del share["consumedCapacity"]
        claims += ClaimGen(g).others(made["allocated"])
        case = {"nodes": self.nodes, "pod": self.pod, "classes": self.classes, "slices": self.slices, "claims": claims}
        if g.chance(0.25):
            case["refuse"] = g.pick(("create", 2), ("object", 2), ("status", 2), ("pod", 3), ("delete", 2))
        case["events"] = [self.event(claims) for _ in range(r.randint(2, 5))]
        return case

    def name_classes(self):
        """Which class stands for what. Upstream forgets the own name of a class whose extended resource a newer class has: C105."""
        g, r = self.g, self.r
        names = [GPU, NET, GPU]
        for i, c in enumerate(self.classes):
            c["metadata"]["creationTimestamp"] = r.choice([OLD, NEW])
            if g.chance(0.8):
                c["spec"]["extendedResourceName"] = names[i] if g.chance(0.8) else r.choice(names)
        used = [c["spec"].get("extendedResourceName") for c in self.classes]
        self.own_names = [PREFIX + c["metadata"]["name"] for c, name in zip(self.classes, used) if name is None or used.count(name) == 1]
        self.backed = {n for n in used if n} | set(self.own_names)

    def requests(self, share):
        g, r = self.g, self.r
        asked = {"cpu": r.choice(["100m", "1", "3"])} if g.chance(0.5) else {}
        for name in [GPU, NET] + self.own_names:
            if g.chance(share if name in (GPU, NET) else share / 3):
                asked[name] = g.pick(("1", 8), ("2", 4), ("3", 1), ("0", 0.5))
        if g.chance(0.06):
            asked[OTHER] = r.choice(["1", "0"])
        keys = list(asked)
        r.shuffle(keys)
        return {k: asked[k] for k in keys}

    def container(self, name, share):
        c = {"name": name}
        asked = self.requests(share)
        if asked:
            c["resources"] = {"requests": asked}
        return c

    def spec(self):
        g, r = self.g, self.r
        # a few containers that ask for much of this, or many that ask for little
        count = g.pick((1, 6), (2, 4), (3, 2), (11, 0.5))
        share = g.pick((0.5, 6), (0.8, 2), (0.1, 1)) if count < 10 else 0.12
        spec = {"containers": [self.container(f"c{i}", share) for i in range(count)]}
        if g.chance(0.5):
            spec["initContainers"] = [self.container(f"i{i}", 0.6) for i in range(g.pick((1, 4), (2, 4), (3, 2)))]
            for c in spec["initContainers"]:
                if g.chance(0.3):
                    c["restartPolicy"] = "Always"
        return spec

    def give(self, has_claims):
        """What nodes have themselves. Upstream cannot bind a pod with claims to a node that has all of it: C106."""
        g, r = self.g, self.r
        spec = self.pod["spec"]
        asked = sorted({n for c in spec["containers"] + spec.get("initContainers", []) for n, q in c.get("resources", {}).get("requests", {}).items() if q != "0" and n in self.backed})
        never = r.choice(asked) if asked and has_claims else None
        for n in self.nodes:
            a = {"cpu": r.choice(["1", "8", "8", "32"]), "memory": "8Gi", "pods": g.pick(("10", 20), ("0", 1))}
            for name in [GPU, NET, OTHER] + self.own_names:
                if g.chance(0.6 if name == OTHER else 0.25):
                    a[name] = g.pick(("0", 2), ("1", 2), ("4", 3)) if name != never else "0"
            n["status"] = {"allocatable": a}

    def left(self):
        """A claim that an attempt before this one has made."""
        g, r = self.g, self.r
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u-p" if g.chance(0.9) else "u-before", "controller": g.chance(0.95)}
        c = {"metadata": {"name": "p-extended-resources-old", "namespace": "d", "uid": "u-old", "resourceVersion": "7", "generateName": "p-extended-resources-", "annotations": {"resource.kubernetes.io/extended-resource-claim": "true" if g.chance(0.95) else "false"}, "ownerReferences": [owner]}}
        c["spec"] = {"devices": {"requests": [{"name": "container-0-request-0", "exactly": {"deviceClassName": self.classes[0]["metadata"]["name"], "allocationMode": "ExactCount", "count": 1}}]}}
        if g.chance(0.6):
            c["metadata"]["finalizers"] = r.choice([["resource.kubernetes.io/delete-protection"], ["x/y", "resource.kubernetes.io/delete-protection"]])
            c["status"] = {"allocation": {"devices": {"results": [{"request": "container-0-request-0", "driver": "gpu.example.com", "pool": "gone", "device": "d0"}]}}}
            if g.chance(0.7):
                c["status"]["reservedFor"] = [{"resource": "pods", "name": "p", "uid": "u-p"}]
        return c

    def event(self, claims):
        g, r = self.g, self.r
        kind = g.pick(("class", 5), ("node", 5), ("claim", 1))
        if kind == "class":
            return self.class_event()
        if kind == "node":
            after = copy.deepcopy(r.choice(self.nodes))
            if g.chance(0.3):
                return {"resource": "Node", "action": "Add", "after": after}
            before = copy.deepcopy(after)
            a = before["status"]["allocatable"]
            for name in g.few(["cpu", "pods", GPU, NET, OTHER], 1, 2):
                a[name] = r.choice(["0", "1", "2", "32"])
            return {"resource": "Node", "action": r.choice(["UpdateNodeAllocatable", "UpdateNodeAllocatable", "UpdateNodeLabel"]), "before": before, "after": after}
        after = copy.deepcopy(r.choice(claims)) if claims else self.left()
        before = copy.deepcopy(after)
        if g.chance(0.6):
            after.pop("status", None)
        return {"resource": "ResourceClaim", "action": "Update", "before": before, "after": after}

    def class_event(self):
        g, r = self.g, self.r
        name = r.choice(["class-0", "class-1", "class-9"])
        of = lambda n: {"metadata": {"name": name}, "spec": {"extendedResourceName": n} if n else {}}
        after = of(r.choice([GPU, NET, OTHER, None]))
        if g.chance(0.5):
            return {"resource": "DeviceClass", "action": "Add", "after": after}
        return {"resource": "DeviceClass", "action": "Update", "before": of(r.choice([GPU, NET, None])), "after": after}
