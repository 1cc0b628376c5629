"""Cases of kind eviction: looks of the eviction manager at a node whose numbers change, and pods that come meanwhile."""

MIB = 1 << 20
GIB = 1 << 30
SIGNALS = {
    "memory": ["memory.available"],
    "disk": ["nodefs.available", "imagefs.available"],
    "inodes": ["nodefs.inodesFree", "imagefs.inodesFree"],
    "pids": ["pid.available"],
}
BROKEN = [("memory.available", "0"), ("memory.available", "-1Mi"), ("memory.available", "101%"), ("memory.available", "-1%"), ("memory.available", "many"),
          ("cpu.available", "10"), ("", "1Gi"), ("nodefs.available", ""), ("memory.available", "0Mi")]


class Eviction:
    def __init__(self, gen, i):
        self.g, self.r, self.i = gen, gen.r, i
        self.subjects = [s for s in SIGNALS if gen.chance(0.2)] or [self.r.choice(list(SIGNALS))]
        self.dedicated = gen.chance(0.45)
        self.split = self.dedicated and gen.chance(0.4)

    def amount(self, subject, share):
        """a threshold at about this share of what there is"""
        r = self.r
        if self.g.chance(0.4):
            return f"{r.choice([share, share + 0.5, share])}%"
        if subject == "memory":
            return r.choice([f"{share * 10}Mi", f"{share * 10 * MIB}", f"{share * 10}M", f"{share * 10 * 1024}Ki"])
        if subject == "disk":
            return r.choice([f"{share}Gi", f"{share}G", f"{share * GIB}", f"{share}.5Gi"])
        if subject == "inodes":
            return r.choice([str(share * 10240), f"{share * 10}k", f"{share * 10}Ki"])
        return r.choice([str(share * 320), f"{share * 320 + 7}", f"{share}00"])

    def config(self):
        g, r = self.g, self.r
        hard, soft, grace, reclaim = {}, {}, {}, {}
        for subject in self.subjects:
            for signal in SIGNALS[subject]:
                # several thresholds of one resource come in a random order where they are met together
                if len(SIGNALS[subject]) > 1 and g.chance(0.4):
                    continue
                if g.chance(0.8):
                    hard[signal] = self.amount(subject, 10)
                if g.chance(0.5):
                    soft[signal] = self.amount(subject, 20)
                    # without a wait it would be a second hard one
                    grace[signal] = r.choice([10, 30, 60, 90] if signal in hard else [0, 10, 30, 60, 90])
                if g.chance(0.35):
                    reclaim[signal] = self.amount(subject, r.choice([5, 10]))
        if g.chance(0.1):
            hard[r.choice([s for all_ in SIGNALS.values() for s in all_])] = r.choice(["0%", "100%"])
        if "memory" in self.subjects and g.chance(0.05):
            hard["allocatableMemory.available"] = "200Mi"
        if g.chance(0.06):
            kind = r.choice(["hard", "soft", "grace", "reclaim", "unknown"])
            if kind == "hard":
                signal, value = r.choice(BROKEN)
                hard[signal] = value
            elif kind == "soft":
                signal, value = r.choice(BROKEN)
                soft[signal], grace[signal] = value, 30
            elif kind == "grace":
                soft["memory.available"] = "300Mi"
                grace.pop("memory.available", None)
            elif kind == "reclaim":
                reclaim["memory.available"] = r.choice(["0%", "-1%", "-1Mi", "x", "0", "5%"])
            else:
                reclaim["disk.available"] = "1Gi"
        return {"evictionHard": hard, "evictionSoft": soft, "softGraceSeconds": grace, "evictionMinimumReclaim": reclaim,
                "maxPodGraceSeconds": r.choice([0, 10, 45, 60]), "transitionSeconds": r.choice([0, 30, 60, 300]), "allocatable": g.chance(0.85),
                "dedicatedImagefs": self.dedicated, "splitContainerfs": self.split, "localStorageCapacityIsolation": g.chance(0.85)}

    # ---- the node ----

    def level(self, subject, capacity):
        """what is left: scarce for what the case is about, from time to time"""
        r = self.r
        share = self.g.pick((r.uniform(0, 9), 3), (r.uniform(9, 21), 4), (r.uniform(21, 35), 2), (r.uniform(40, 99), 4)) if subject in self.subjects else r.uniform(50, 90)
        return {"available": int(capacity * share / 100), "capacity": capacity}

    def node(self):
        g = self.g
        n = {"memory": self.level("memory", 1000 * MIB)}
        calm = {"available": 700 * MIB, "capacity": 800 * MIB}
        if g.chance(0.9):
            # both at once come in a random order
            n["podsMemory"] = calm
            if g.chance(0.25):
                n["podsMemory"], n["memory"] = self.level("memory", 800 * MIB), {"available": 900 * MIB, "capacity": 1000 * MIB}
        n["nodefs"], n["nodefsInodes"] = self.level("disk", 100 * GIB), self.level("inodes", 1024000)
        if self.dedicated:
            n["imagefs"], n["imagefsInodes"] = self.level("disk", 100 * GIB), self.level("inodes", 1024000)
        else:
            n["imagefs"], n["imagefsInodes"] = n["nodefs"], n["nodefsInodes"]
        of = "imagefs" if self.dedicated and not self.split else "nodefs"
        n["pids"] = self.level("pids", 32000)
        for name in list(n):
            if g.chance(0.03):
                del n[name]
        for name in ("", "Inodes"):
            if f"{of}{name}" in n:
                n[f"containerfs{name}"] = n[f"{of}{name}"]
        return n

    # ---- pods ----

    def resources(self, names):
        r, g = self.r, self.g
        requests, limits = {}, {}
        if "memory" in names and g.chance(0.5):
            requests["memory"] = r.choice(["50Mi", "100Mi", "200M", "0.1Gi", "1Gi", "0", "1500Ki", "3000"])
        if "ephemeral-storage" in names:
            # of inodes nobody can ask for
            if "inodes" not in self.subjects and g.chance(0.35):
                requests["ephemeral-storage"] = r.choice(["1Gi", "2G", "500Mi", "5Gi"])
            if g.chance(0.06):
                limits["ephemeral-storage"] = r.choice(["1Gi", "3Gi", "5G", "10Gi", "0"])
        return {k: v for k, v in (("requests", requests), ("limits", limits)) if v}

    def pod(self, name):
        r, g = self.r, self.g
        spec = {"containers": [{"name": f"c{n}", "image": "i", "resources": self.resources(["memory", "ephemeral-storage"])} for n in range(r.choice([1, 1, 2, 3]))]}
        if g.chance(0.2):
            spec["initContainers"] = [{"name": "init", "image": "i", "resources": self.resources(["memory", "ephemeral-storage"])}]
            if g.chance(0.5):
                spec["initContainers"][0]["restartPolicy"] = "Always"
        if g.chance(0.1):
            # the kubelet then knows no request of ephemeral storage at all
            for c in spec["containers"] + spec.get("initContainers", []):
                c["resources"] = {}
            spec["resources"] = r.choice([{"requests": {"memory": "150Mi"}}, {"limits": {"memory": "1Gi"}}, {"requests": {"cpu": "1"}}, {"requests": {"memory": "20Mi", "cpu": "1"}}])
        if g.chance(0.1):
            spec["overhead"] = {"memory": "30Mi"}
        priority = g.pick((None, 3), (0, 3), (1, 2), (5, 2), (-3, 1), (2000000000, 0.5), (2000001000, 0.3))
        if priority is not None:
            spec["priority"] = priority
        if g.chance(0.85):
            spec["terminationGracePeriodSeconds"] = r.choice([30, 30, 5, 0, 100])
        volumes = []
        if g.chance(0.6):
            volumes.append({"name": "scratch", "emptyDir": {"sizeLimit": r.choice(["1Gi", "2G", "6Gi", "0"])} if g.chance(0.12) else {}})
        if g.chance(0.2):
            volumes.append({"name": "shm", "emptyDir": {"medium": "Memory", **({"sizeLimit": "64Mi"} if g.chance(0.2) else {})}})
        if g.chance(0.2):
            volumes.append({"name": "settings", "configMap": {"name": "s"}})
        if g.chance(0.15):
            volumes.append({"name": "keys", "secret": {"secretName": "k"}})
        if volumes:
            spec["volumes"] = volumes
        if g.chance(0.2):
            spec["tolerations"] = [r.choice([{"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}, {"operator": "Exists"},
                                             {"key": "node.kubernetes.io/disk-pressure", "operator": "Exists", "effect": "NoSchedule"}])]
        metadata = {"name": name, "namespace": "d", "uid": name}
        if g.chance(0.5):
            metadata["generation"] = r.choice([1, 4])
        if g.chance(0.05):
            metadata["annotations"] = {"kubernetes.io/config.source": r.choice(["file", "api"])}
        status = {"phase": "Running"}
        if g.chance(0.3):
            status["conditions"] = [{"type": "Ready", "status": "True", **({"observedGeneration": 1} if g.chance(0.3) else {})}]
            if g.chance(0.4):
                status["conditions"].insert(0, {"type": "DisruptionTarget", "status": r.choice(["True", "False"]), "reason": "EvictionByEvictionAPI", "message": "m"})
        if g.chance(0.3):
            status["observedGeneration"] = 1
        if g.chance(0.2):
            status["reason"], status["message"] = "R", "old"
        return {"metadata": metadata, "spec": spec, "status": status}

    def size(self):
        r, g = self.r, self.g
        if g.chance(0.15):
            return {"bytes": 0, "inodes": r.choice([0, 1])}
        return {"bytes": r.choice([r.randrange(1, 4 * GIB), r.randrange(1, 4000) * MIB, r.randrange(1, 3) * GIB, r.randrange(2000)]), "inodes": r.choice([1, r.randrange(1, 20), r.randrange(1, 200000)])}

    def usage(self, pod):
        r, g = self.r, self.g
        containers = []
        for c in pod["spec"]["containers"] + pod["spec"].get("initContainers", []):
            if g.chance(0.1):
                continue
            one = {"name": c["name"]}
            if g.chance(0.95):
                one["memory"] = r.choice([r.randrange(300) * MIB, r.randrange(300 * MIB), 5000, 999, 1024, 1500])
            if g.chance(0.9):
                one["rootfs"] = self.size()
            if g.chance(0.9):
                one["logs"] = self.size()
            containers.append(one)
        of = {"containers": containers, "volumes": {}, "memoryVolumes": {}, "others": {"bytes": 0, "inodes": 0}}
        # the kubelet sums it of the pod's cgroup
        of["memory"] = sum(c.get("memory", 0) for c in containers)
        if g.chance(0.9):
            of["processes"] = r.choice([1, 2, r.randrange(100), r.randrange(30000)])
        for v in pod["spec"].get("volumes", []):
            if g.chance(0.1):
                continue
            if v.get("emptyDir", {}).get("medium") == "Memory":
                of["memoryVolumes"][v["name"]] = {"bytes": r.randrange(128 * MIB), "inodes": 3}
            elif "emptyDir" in v or "configMap" in v:
                of["volumes"][v["name"]] = self.size()
        return of

    def frees(self):
        r, g = self.r, self.g
        if g.chance(0.4):
            return None
        out = {}
        for what in ("containers", "images"):
            if g.chance(0.2):
                out[f"{what}Fail"] = True
            elif g.chance(0.7):
                share = r.choice([1, 5, 15, 40])
                out[what] = {}
                for fs in ("nodefs", "imagefs", "containerfs"):
                    out[what][fs] = {"available": share * GIB, "capacity": 0}
                    out[what][f"{fs}Inodes"] = {"available": share * 10240, "capacity": 0}
        return out

    def case(self):
        g, r = self.g, self.r
        config = self.config()
        steps, count = [], 0
        pods = []
        for s in range(r.choice([2, 3, 4, 6, 8])):
            if g.chance(0.15) and s > 0:
                steps.append({"op": "admit", "seconds": r.choice([0, 0, 10, 40]), "pod": self.pod("new")})
                continue
            step = {"op": "look", "seconds": 0 if s == 0 else r.choice([1, 10, 10, 20, 30, 60, 300])}
            if s == 0 or g.chance(0.75):
                step["node"] = self.node()
            if s == 0 or g.chance(0.5):
                pods = [self.pod(f"p{count + n}") for n in range(r.choice([0, 1, 2, 3, 4, 5, 6]) if s == 0 else r.choice([1, 3, 5]))]
                count += len(pods)
                step["pods"] = pods
                step["usage"] = {p["metadata"]["uid"]: self.usage(p) for p in pods if g.chance(0.93)}
            frees = self.frees()
            if frees is not None:
                step["frees"] = frees
            steps.append(step)
        return {"name": f"eviction-{self.i:04d}", "kind": "eviction", "config": config, "steps": steps}


def make(gen, i):
    return Eviction(gen, i).case()
