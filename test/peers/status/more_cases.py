"""More random cases: what generate_cases.py's own kinds leave out. Kinds `more-scenarios` and `more-tables`."""
import copy

from generate_cases import Gen, Steps

PHASES = ["Pending", "Running", "Running", "Succeeded", "Failed"]
GATE = "example.com/gate"


class MoreGen(Gen):
    def rules(self):
        actions = ["Restart", "Restart", "RestartAllContainers"] if self.chance(0.3) else ["Restart"]
        return [{"action": self.r.choice(actions), "exitCodes": {"operator": self.r.choice(["In", "In", "NotIn"]), "values": self.r.sample([0, 1, 2, 137], self.r.choice([1, 2]))}}
                for _ in range(self.r.choice([1, 1, 2]))]

    def more_pod(self, namespace, name, static=False, gates=None, policies=False):
        p = self.pod(namespace=namespace, static=static)
        p["metadata"]["name"] = name
        p["spec"].pop("readinessGates", None)
        gates = self.chance(0.35) if gates is None else gates
        if gates:
            # upstream's own check of gates does not look at init containers: such pods are in no case
            p["spec"]["readinessGates"] = [{"conditionType": GATE}]
            p["spec"].pop("initContainers", None)
        if policies or self.chance(0.4):
            p["spec"]["restartPolicy"] = self.r.choice(["Always", "OnFailure", "OnFailure", "Never", "Never"])
            for c in p["spec"]["containers"] + p["spec"].get("initContainers", []):
                if c.get("restartPolicy") is None and self.chance(0.5):
                    sidecars = c["name"].startswith("c")
                    c["restartPolicy"] = self.r.choice(["Always", "OnFailure", "Never"] if sidecars else ["OnFailure", "Never"])
                    if self.chance(0.5):
                        c["restartPolicyRules"] = self.rules()
        return p

    def more_status(self, p, **fixed):
        s = self.status(p)
        if self.chance(0.3):
            s["conditions"].append({"type": "AllContainersRestarting", "status": self.r.choice(["True", "False"])})
        if self.chance(0.1):
            s["conditions"].insert(0, {"type": "PodResizePending", "status": "True", "reason": "Deferred", "lastProbeTime": self.time(), "lastTransitionTime": self.time()})
        s.update(fixed)
        return {k: v for k, v in s.items() if v != [] or k == "conditions"}

    def disruption(self):
        return {"type": "DisruptionTarget", "status": "True", "reason": "TerminationByKubelet", "message": self.r.choice(["low on memory", "preempted"])}

    def more_scenario(self, i):
        """Two managers' worth of pods: the same names in several namespaces. Each scenario leans on one or two themes."""
        r, steps = self.r, Steps()
        self.observes = 0.5 if self.chance(0.2) else 1.0
        self.pods, self.mirrors, self.resized = [], {}, set()
        # a disrupted pod is compared but for one time ever after, so that these scenarios are few
        often = [self.resize, self.turn_gate, self.fail_mirror, self.runtime_conditions, self.rest] + ([self.disrupt] if self.chance(0.3) else [])
        themes = r.sample(often, r.choice([1, 2, 2, 3])) + [self.rest]
        static = self.fail_mirror in themes
        names = [f"pod{k}" for k in range(r.choice([1, 2]))]
        for name in names:
            for ns in r.sample(["a", "b", "c"], r.choice([1, 2, 2])):
                self.create(steps, self.more_pod(ns, name, static=static and self.chance(0.6), gates=True if self.turn_gate in themes and self.chance(0.8) else None))
        for _ in range(r.randrange(5, 14)):
            r.choice(themes)(steps, r.choice(self.pods))
        for p in self.pods:
            self.observe(steps, p, sure=True)
        steps += [{"op": "advance", "seconds": 10}, {"op": "advance", "seconds": 10}]
        return {"name": f"more-{i:04d}", "steps": steps}

    def create(self, steps, p):
        self.pods.append(p)
        if p["metadata"]["annotations"]["kubernetes.io/config.source"] == "file":
            steps.append({"op": "podManager.add", "pod": p})
            if self.chance(0.8):
                self.put_mirror(steps, p)
            return
        if self.chance(0.3):
            p["status"] = self.more_status(p)
        steps.append({"op": "apiserver.put", "pod": p})
        self.observe(steps, p, sure=True)

    def put_mirror(self, steps, p):
        m = self.mirror_of(p)
        m["status"] = {"phase": "Pending"}
        self.mirrors[p["metadata"]["uid"]] = m
        steps.append({"op": "apiserver.put", "pod": m})
        self.observe(steps, p, sure=True)

    @staticmethod
    def key(p):
        return {"namespace": p["metadata"]["namespace"], "name": p["metadata"]["name"]}

    def observe(self, steps, p, sure=False):
        if sure or self.chance(self.observes):
            steps.append({"op": "podManager.observe", **self.key(p)})

    def advance(self, steps):
        steps.append({"op": "advance", "seconds": self.r.choice([1, 10, 10, 20])})

    def fail(self, steps, p, verbs):
        steps.append({"op": "apiserver.fail", **self.key(p), "verb": self.r.choice(verbs), "code": self.r.choice([500, 500, 403, 429]), "times": self.r.choice([1, 1, 2])})

    def rest(self, steps, p):
        """Ordinary life, with GETs that fail too."""
        r, uid, k = self.r, p["metadata"]["uid"], self.r.random()
        if k < 0.35:
            steps.append({"op": "setPodStatus", "podUID": uid, "status": self.more_status(p)})
        elif k < 0.5:
            steps.append({"op": "setContainerReadiness", "podUID": uid, "containerID": f"containerd://{r.choice(['c0', 'c1', 'i0'])}", "value": self.chance(0.5)})
        elif k < 0.55:
            steps.append({"op": "terminatePod", "podUID": uid})
        elif k < 0.65:
            self.fail(steps, p, ["get", "get", "get", "patch"])
            if self.chance(0.7):
                steps.append({"op": "setPodStatus", "podUID": uid, "status": self.more_status(p)})
        elif k < 0.7:
            self.remove_orphans(steps)
        elif k < 0.75 and uid not in self.mirrors:
            self.delete_or_recreate(steps, p)
        else:
            self.observe(steps, p)
            self.advance(steps)

    def remove_orphans(self, steps):
        """Upstream keeps the resize conditions of orphans without a status for ever: each has one, or has none of them."""
        keep = [q for q in self.pods if self.chance(0.8)]
        for p in self.pods:
            uid = p["metadata"]["uid"]
            if p in keep or uid not in self.resized:
                continue
            if p["spec"].get("initContainers"):
                steps += [{"op": "clearPodResizePendingCondition", "podUID": uid}, {"op": "clearPodResizeInProgressCondition", "podUID": uid}]
            else:
                steps.append({"op": "setPodStatus", "podUID": uid, "status": {"phase": "Running", "message": "orphaned"}})
        steps.append({"op": "removeOrphanedStatuses", "podUIDs": [p["metadata"]["uid"] for p in keep]})

    def delete_or_recreate(self, steps, p):
        uid, q = p["metadata"]["uid"], copy.deepcopy(p)
        if "file" == p["metadata"]["annotations"]["kubernetes.io/config.source"]:
            return
        if self.chance(0.6):
            p["metadata"].update(deletionTimestamp="2000-01-01T00:01:00Z", deletionGracePeriodSeconds=30)
            q["metadata"], q["status"] = copy.deepcopy(p["metadata"]), self.more_status(p)
            steps.append({"op": "apiserver.put", "pod": q})
            self.observe(steps, p)
            steps += [{"op": "terminatePod", "podUID": uid}]
            self.observe(steps, p)
            steps += [{"op": "advance", "seconds": 10}]
            return
        q["metadata"]["uid"] = self.uid("u")
        q["metadata"].pop("deletionTimestamp", None)
        q["metadata"].pop("deletionGracePeriodSeconds", None)
        steps += [{"op": "apiserver.remove", **self.key(p)}, {"op": "apiserver.put", "pod": q}, {"op": "podManager.remove", "podUID": uid}]
        self.observe(steps, q, sure=True)
        self.pods.append(q)

    def resize(self, steps, p):
        self.resized.add(p["metadata"]["uid"])
        for _ in range(self.r.choice([1, 2, 3, 4])):
            self.one_resize(steps, p)

    def one_resize(self, steps, p):
        r, uid, k = self.r, p["metadata"]["uid"], self.r.random()
        reason, message, generation = r.choice(["Deferred", "Infeasible", "Other", ""]), r.choice(["", "no room", "later"]), r.choice([1, 1, 2, 3])
        one = {"podUID": uid, "reason": reason, "message": message, "generation": generation}
        if k < 0.3:
            steps.append({"op": "setPodResizePendingCondition", **one})
        elif k < 0.55:
            steps.append({"op": "setPodResizeInProgressCondition", **one, "reason": r.choice(["", "", "Error"])})
        elif k < 0.63:
            steps.append({"op": "clearPodResizePendingCondition", "podUID": uid})
        elif k < 0.71:
            steps.append({"op": "clearPodResizeInProgressCondition", "podUID": uid})
        elif k < 0.76:
            pod_uids = [q["metadata"]["uid"] for q in self.pods if self.chance(0.8)]
            self.resized.update(pod_uids)
            steps.append({"op": "backfillPodResizeConditions", "podUIDs": pod_uids})
        elif k < 0.9:
            steps.append({"op": "setPodStatus", "podUID": uid, "status": self.status(p), "withResizeConditions": True})
        else:
            self.advance(steps)

    def disrupt(self, steps, p):
        """The pod is disrupted, or evicted, while its containers still run; the phase and the condition wait for them."""
        uid = p["metadata"]["uid"]
        steps.append({"op": "podDeletionSafety.couldHaveRunningContainers", "podUID": uid, "value": True})
        s = self.more_status(p, phase=self.r.choice(["Failed", "Failed", "Succeeded", "Running"]))
        s["conditions"] = [c for c in s["conditions"] if c["type"] != "DisruptionTarget"] + [self.disruption()]
        if self.chance(0.4):
            s["conditions"][-1]["lastTransitionTime"] = self.time()
        s["reason"], s["message"] = "Evicted", "memory"
        steps.append({"op": "setPodStatus", "podUID": uid, "status": s})
        if self.chance(0.6):
            self.observe(steps, p)
            self.advance(steps)
        if self.chance(0.3):
            steps.append({"op": "setPodStatus", "podUID": uid, "status": {**s, "message": "memory, still"}})
        if self.chance(0.7):
            steps.append({"op": "podDeletionSafety.couldHaveRunningContainers", "podUID": uid, "value": False})
        if self.chance(0.5):
            steps.append({"op": "setPodStatus", "podUID": uid, "status": {**s, "message": "memory, ended"}})
        if self.chance(0.7):
            self.advance(steps)

    def turn_gate(self, steps, p):
        """Another client turns the gate on the apiserver; the agent sees it and makes Ready anew."""
        static = "file" == p["metadata"]["annotations"]["kubernetes.io/config.source"]
        if static or "readinessGates" not in p["spec"]:
            return self.rest(steps, p)
        q = copy.deepcopy(p)
        q["status"] = self.more_status(p, phase="Running")
        q["status"]["conditions"] = [c for c in q["status"]["conditions"] if c["type"] != GATE]
        if self.chance(0.9):
            q["status"]["conditions"].append({"type": GATE, "status": self.r.choice(["True", "True", "False"]), "lastTransitionTime": self.time()})
        if self.chance(0.6):
            steps.append({"op": "setPodStatus", "podUID": p["metadata"]["uid"], "status": q["status"]})
        steps.append({"op": "apiserver.put", "pod": q})
        self.observe(steps, p)
        steps.append({"op": "reconcilePodReadiness", "podUID": p["metadata"]["uid"]})
        if self.chance(0.5):
            self.observe(steps, p)
            steps.append({"op": "reconcilePodReadiness", "podUID": p["metadata"]["uid"]})

    def fail_mirror(self, steps, p):
        """The mirror pod cannot be written, goes away, and comes back under another uid."""
        uid = p["metadata"]["uid"]
        m, k = self.mirrors.get(uid), self.r.random()
        if "file" != p["metadata"]["annotations"]["kubernetes.io/config.source"]:
            return self.rest(steps, p)
        if m is None:
            if self.chance(0.7):
                self.put_mirror(steps, p)
        elif k < 0.35:
            self.fail(steps, p, ["patch", "patch", "get"])
        elif k < 0.6:
            steps.append({"op": "apiserver.remove", **self.key(p)})
            if self.chance(0.8):
                steps.append({"op": "podManager.remove", "podUID": m["metadata"]["uid"]})
            del self.mirrors[uid]
        if self.chance(0.7):
            steps.append({"op": "setPodStatus", "podUID": uid, "status": self.more_status(p)})
        if self.chance(0.5):
            self.advance(steps)

    def runtime_conditions(self, steps, p):
        """Conditions that follow from what the runtime lists, turning on and off."""
        uid = p["metadata"]["uid"]
        s = self.more_status(p)
        for kind in ["PodReadyToStartContainers", "AllContainersRestarting"]:
            s["conditions"] = [c for c in s["conditions"] if c["type"] != kind]
            if self.chance(0.8):
                s["conditions"].append({"type": kind, "status": self.r.choice(["True", "False"]), **({"reason": "RestartAllContainersStarted"} if self.chance(0.3) else {})})
        steps.append({"op": "setPodStatus", "podUID": uid, "status": s})
        if self.chance(0.4):
            turned = copy.deepcopy(s)
            for c in turned["conditions"]:
                if c["type"] in ["PodReadyToStartContainers", "AllContainersRestarting"]:
                    c["status"] = self.r.choice(["True", "False"])
            self.advance(steps)
            steps.append({"op": "setPodStatus", "podUID": uid, "status": turned})

    def more_table(self):
        r = self.r
        fn = r.choice(["generatePodReadyToStartContainersCondition", "generateAllContainersRestartingCondition", "needToReconcilePodReadiness", "checkContainerStateTransition", "checkContainerStateTransition"])
        p = self.more_pod("d", "pod", gates=fn == "needToReconcilePodReadiness" and self.chance(0.9), policies=fn == "checkContainerStateTransition")
        if fn == "generatePodReadyToStartContainersCondition":
            if self.chance(0.3):
                p["spec"]["hostNetwork"] = True
            return {"fn": fn, "in": {"pod": p, "old": self.more_status(p), "sandboxes": [self.sandbox(p) for _ in range(r.choice([0, 1, 1, 1, 2]))]}}
        if fn == "generateAllContainersRestartingCondition":
            for c in p["spec"]["containers"]:
                if self.chance(0.6):
                    c.update(restartPolicy="Never", restartPolicyRules=[{"action": "RestartAllContainers", "exitCodes": {"operator": r.choice(["In", "In", "NotIn"]), "values": [r.choice([0, 1, 137])]}}])
            listed = [c["name"] for c in p["spec"].get("initContainers", []) + p["spec"]["containers"] if self.chance(0.75)]
            return {"fn": fn, "in": {"pod": p, "old": self.more_status(p), "phase": r.choice(PHASES + PHASES[:3] * 2), "runtimeContainers": [self.runtime_container(name) for name in listed]}}
        if fn == "needToReconcilePodReadiness":
            p["status"] = self.ready_status(p) if self.chance(0.7) else self.more_status(p)
            return {"fn": fn, "in": {"pod": p}}
        return {"fn": fn, "in": {"pod": p, "old": self.more_status(p), "new": self.more_status(p)}}

    def ready_status(self, p):
        """All containers ready: what is left to decide is the gate."""
        containers = [{"name": c["name"], "image": "i", "imageID": "i", "restartCount": 0, "ready": True, "state": {"running": {"startedAt": self.time()}}, "lastState": {}} for c in p["spec"]["containers"]]
        gate = [{"type": GATE, "status": self.r.choice(["True", "False"])}] if self.chance(0.8) else []
        message = self.r.choice([f'the status of pod readiness gate "{GATE}" is not "True", but False', f'corresponding condition of pod readiness gate "{GATE}" does not exist.', "other"])
        ready = {"type": "Ready", "status": "True"} if self.chance(0.5) else {"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady", "message": message}
        return {"phase": "Running", "conditions": gate + [ready], "containerStatuses": containers}

    def sandbox(self, p):
        s = {"ready": self.chance(0.75)}
        if self.chance(0.85) == bool(p["spec"].get("hostNetwork")):
            s["hostNetwork"] = True
        if self.chance(0.7):
            s["network"] = {"ip": self.r.choice(["10.0.0.1", "10.0.0.2", ""])}
        return s

    def runtime_container(self, name):
        state = self.r.choice(["created", "running", "exited", "exited", "exited", "unknown"])
        return {"name": name, "state": state, **({"exitCode": self.r.choice([0, 1, 2, 137])} if state == "exited" else {})}
