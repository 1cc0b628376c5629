"""Write random cases for the oracles.

usage: generate.py refs|refNames|mirror SEED COUNT > cases.jsonl
The same kind, seed and count always give the same lines.
"""
import copy
import json
import random
import sys

SOURCE = "kubernetes.io/config.source"
MIRROR = "kubernetes.io/config.mirror"
HASH = "kubernetes.io/config.hash"
SEEN = "kubernetes.io/config.seen"


class Gen:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.n = 0

    def uid(self, prefix="u"):
        self.n += 1
        return f"{prefix}{self.n}"

    def chance(self, p):
        return self.r.random() < p

    def pick(self, *weighted):
        """pick(("a", 3), ("b", 1)): "a" three times as often"""
        total = sum(w for _, w in weighted)
        x = self.r.random() * total
        for v, w in weighted:
            x -= w
            if x < 0:
                return v
        return weighted[-1][0]

    # ---- refs ----

    def secret_places(self):
        """ways a pod spec names a secret, then a config map: each takes (spec, name)"""
        def container(kind):
            def at(spec, i=0):
                l = spec.setdefault(kind, [])
                if not l:
                    l.append({"name": kind[:3], "image": "i"})
                return l[0]
            return at
        places = []
        for kind in ["containers", "initContainers", "ephemeralContainers"]:
            c = container(kind)
            places.append(("secret", lambda s, n, c=c: c(s).setdefault("env", []).append({"name": f"E{len(c(s)['env'])}", "valueFrom": {"secretKeyRef": {"name": n, "key": "k"}}})))
            places.append(("secret", lambda s, n, c=c: c(s).setdefault("envFrom", []).append({"secretRef": {"name": n}})))
            places.append(("configMap", lambda s, n, c=c: c(s).setdefault("env", []).append({"name": f"E{len(c(s)['env'])}", "valueFrom": {"configMapKeyRef": {"name": n, "key": "k", "optional": True}}})))
            places.append(("configMap", lambda s, n, c=c: c(s).setdefault("envFrom", []).append({"configMapRef": {"name": n}})))
        def volume(kind, make):
            def put(s, n):
                v = s.setdefault("volumes", [])
                v.append({"name": f"v{len(v)}", **make(n)})
            places.append((kind, put))
        volume("secret", lambda n: {"secret": {"secretName": n}})
        volume("secret", lambda n: {"projected": {"sources": [{"downwardAPI": {}}, {"secret": {"name": n}}]}})
        volume("configMap", lambda n: {"configMap": {"name": n}})
        volume("configMap", lambda n: {"projected": {"sources": [{"configMap": {"name": n}}, {"serviceAccountToken": {"path": "t"}}]}})
        volume("secret", lambda n: {"azureFile": {"secretName": n, "shareName": "s"}})
        volume("secret", lambda n: {"cephfs": {"monitors": ["m"], "secretRef": {"name": n}}})
        volume("secret", lambda n: {"cinder": {"volumeID": "v", "secretRef": {"name": n}}})
        volume("secret", lambda n: {"flexVolume": {"driver": "d", "secretRef": {"name": n}}})
        volume("secret", lambda n: {"rbd": {"monitors": ["m"], "image": "i", "secretRef": {"name": n}}})
        volume("secret", lambda n: {"scaleIO": {"gateway": "g", "system": "s", "secretRef": {"name": n}}})
        volume("secret", lambda n: {"iscsi": {"targetPortal": "t", "iqn": "i", "lun": 0, "secretRef": {"name": n}}})
        volume("secret", lambda n: {"storageos": {"secretRef": {"name": n}}})
        volume("secret", lambda n: {"csi": {"driver": "d", "nodePublishSecretRef": {"name": n}}})
        places.append(("secret", lambda s, n: s.setdefault("imagePullSecrets", []).append({"name": n})))
        return places

    def ref_pod(self, kind, names, uid=None, name=None, namespace=None, few=False):
        r = self.r
        p = {"metadata": {"name": name or f"p{r.randrange(4)}", "namespace": namespace or r.choice(["d", "d", "e"]), "uid": uid or self.uid()}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        places = self.secret_places()
        self.named = []
        for _ in range(r.choice([0, 1, 1, 1, 2, 2] if few else [0, 1, 2, 3, 5])):
            k, put = r.choice([x for x in places if x[0] == kind] if self.chance(0.85) else places)
            n = r.choice(names) if not self.chance(0.03) else ""
            put(p["spec"], n)
            if k == kind and n:
                self.named.append((p["metadata"]["namespace"], n))
        return p

    def refNames(self, i):
        return {"kind": "refNames", "name": f"refNames-{i:04d}", "pod": self.ref_pod(self.r.choice(["secret", "configMap"]), ["a", "b", "c", "d", "e", "f"])}

    def refs(self, i):
        r = self.r
        resource, mode = r.choice(["secrets", "configmaps"]), r.choice(["cache", "watch", "watch"])
        kind = "secret" if resource == "secrets" else "configMap"
        sc = {"name": f"refs-{i:04d}", "kind": "refs", "resource": resource, "mode": mode}
        if mode == "watch":
            sc["resyncSeconds"] = r.choice([60, 60, 1, 10, 30])
            if self.chance(0.4):
                sc["watchList"] = True
        elif self.chance(0.4):
            sc["nodeTTLSeconds"] = r.choice([0, 10, 300])
        names = ["a", "b", "c"][: r.choice([1, 2, 2, 3])]
        pods, named, steps, held = {}, {}, [], set()
        value = 0
        for n in names:
            if self.chance(0.6):
                value += 1
                steps.append({"op": "server.put", "object": {"namespace": "d", "name": n, "value": f"v{value}", **({"immutable": True} if self.chance(0.15) else {})}})
        n_steps = r.randrange(15, 31)
        while len(steps) < n_steps:
            k = self.pick(("register", 4 if len(pods) < 4 else 1.5), ("update", 2.5), ("unregister", 1.5), ("get", 9), ("put", 3), ("delete", 1), ("fail", 1.2), ("advance", 3.5), ("stale", 1.2 if mode == "cache" else 0), ("close", 0.7 if mode == "watch" else 0), ("expire", 0.5 if mode == "watch" else 0), ("nodeTTL", 0.5 if mode == "cache" else 0), ("again", 0.6), ("hold", 1.2 if sc.get("watchList") else 0))
            if k == "register":
                p = self.ref_pod(kind, names, few=True)
                pods[p["metadata"]["uid"]], named[p["metadata"]["uid"]] = p, self.named
                steps.append({"op": "register", "pod": p})
            elif k == "update" and pods:
                p = r.choice(list(pods.values()))
                q = self.ref_pod(kind, names, p["metadata"]["uid"], p["metadata"]["name"], p["metadata"]["namespace"], few=True)
                pods[p["metadata"]["uid"]], named[p["metadata"]["uid"]] = q, self.named
                steps.append({"op": "register", "pod": q})
            elif k == "again" and pods:
                steps.append({"op": "register", "pod": copy.deepcopy(r.choice(list(pods.values())))})
            elif k == "unregister" and pods:
                p = r.choice(list(pods.values()))
                if self.chance(0.1):
                    # somebody forgets a pod that was never registered, or twice
                    p = copy.deepcopy(p)
                    if self.chance(0.5):
                        p["metadata"]["uid"] = self.uid()
                else:
                    pods.pop(p["metadata"]["uid"])
                    named.pop(p["metadata"]["uid"])
                steps.append({"op": "unregister", "pod": p})
            elif k == "get":
                known = [x for l in named.values() for x in l]
                if known and self.chance(0.85):
                    ns, n = r.choice(known)
                elif self.chance(0.5):
                    continue
                else:
                    ns, n = r.choice(["d", "d", "d", "e"]), r.choice(names)
                steps.append({"op": "get", "namespace": ns, "name": n})
                if self.chance(0.15):
                    steps.append({"op": "get", "namespace": ns, "name": n})
            elif k == "put":
                n = r.choice(names)
                ns = r.choice(["d", "d", "d", "e"])
                value += 1
                steps.append({"op": "server.put", "object": {"namespace": ns, "name": n, "value": f"v{value}", **({"immutable": True} if self.chance(0.2) else {})}})
            elif k == "delete":
                steps.append({"op": "server.delete", "namespace": r.choice(["d", "d", "e"]), "name": r.choice(names)})
            elif k == "fail":
                if mode == "cache":
                    steps.append({"op": "server.fail", "verb": "get", "name": r.choice(names), "code": r.choice([500, 403, 404, 429, 504]), "times": r.choice([1, 1, 2])})
                else:
                    verb = r.choice(["list", "watch"])
                    if sc.get("watchList"):
                        verb = "watch"
                    steps.append({"op": "server.fail", "verb": verb, "name": r.choice(names), "code": r.choice([500, 403, 504]), "times": 1})
            elif k == "advance":
                steps.append({"op": "advance", "seconds": r.choice([5, 20, 61, 61, 125, 330] if mode == "watch" else [1, 5, 20, 59, 61, 300])})
            elif k == "hold":
                n = r.choice(names)
                if n in held:
                    held.discard(n)
                    steps.append({"op": "server.letGo", "name": n})
                else:
                    held.add(n)
                    steps.append({"op": "server.hold", "name": n})
            elif k == "stale" and self.chance(0.7) and [x for l in named.values() for x in l if x[0] == "d"]:
                # it is known at its latest version, then a cache of the apiserver answers with the one before
                ns, n = r.choice([x for l in named.values() for x in l if x[0] == "d"])
                for _ in range(2):
                    value += 1
                    steps.append({"op": "server.put", "object": {"namespace": ns, "name": n, "value": f"v{value}"}})
                steps += [{"op": "advance", "seconds": 301}, {"op": "get", "namespace": ns, "name": n}, {"op": "server.stale", "namespace": ns, "name": n, "times": r.choice([1, 2])}, {"op": "advance", "seconds": r.choice([61, 301])}]
                steps += [{"op": "get", "namespace": ns, "name": n}] * r.choice([1, 2, 3])
            elif k == "stale":
                steps.append({"op": "server.stale", "namespace": "d", "name": r.choice(names), "times": r.choice([1, 1, 2])})
            elif k in ("close", "expire"):
                steps += [{"op": "advance", "seconds": 5}, {"op": f"server.{k}Watches"}, {"op": "advance", "seconds": 20}]
            elif k == "nodeTTL":
                steps.append({"op": "nodeTTL", **({"seconds": r.choice([0, 10, 300])} if self.chance(0.8) else {})})
        sc["steps"] = copy.deepcopy(steps)
        return sc

    # ---- mirror ----

    def mirror(self, i):
        r = self.r
        sc = {"name": f"mirror-{i:04d}", "kind": "mirror", "nodeName": r.choice(["n", "node-1"])}
        if self.chance(0.03):
            sc["noClient"] = True
        pods = []
        for j in range(r.choice([1, 2, 3])):
            p = {"metadata": {"name": f"web{j}-n", "namespace": r.choice(["d", "kube-system"]), "uid": self.uid("static"), "annotations": {HASH: f"hash{r.randrange(3)}", SOURCE: "file", SEEN: "2000-01-01T00:00:00Z"}},
                 "spec": {"nodeName": sc["nodeName"], "containers": [{"name": "c", "image": "i"}], "tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}, "status": {"phase": "Pending"}}
            m = p["metadata"]
            if self.chance(0.2):
                m["annotations"]["a"] = "b"
            if self.chance(0.15):
                m["annotations"].pop(HASH)
            if self.chance(0.1):
                m["annotations"][MIRROR] = "given"
            if self.chance(0.2):
                m["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "o1"}]
            if self.chance(0.2):
                m["labels"] = {"app": "x"}
            if self.chance(0.1):
                m.pop("annotations")
            pods.append(p)
        steps = []
        if self.chance(0.9):
            steps.append({"op": "node", "nodeUID": "node-uid-1"})
        for _ in range(r.randrange(12, 26)):
            p = r.choice(pods)
            m = p["metadata"]
            full = f"{m['name']}_{m['namespace']}"
            k = self.pick(("create", 5), ("delete", 5), ("put", 2), ("remove", 1), ("fail", 1.5), ("node", 0.35), ("rehash", 1))
            if k == "create":
                steps.append({"op": "create", "pod": copy.deepcopy(p)})
            elif k == "delete":
                name = full if not self.chance(0.12) else r.choice(["", "noname", "a_b_c", "_d", "x_", "none_d", m["name"]])
                s = {"op": "delete", "podFullName": name}
                if self.chance(0.5):
                    s["uid"] = r.choice(["server-1", "server-2", "server-3", "other", m["uid"], ""])
                steps.append(s)
            elif k == "put":
                q = copy.deepcopy(p)
                q["metadata"]["uid"] = self.uid("other")
                q["metadata"].setdefault("annotations", {})[MIRROR] = r.choice([p["metadata"].get("annotations", {}).get(HASH, ""), "old", f"hash{r.randrange(3)}"])
                if self.chance(0.2):
                    q["metadata"]["annotations"].pop(MIRROR)
                steps.append({"op": "server.put", "pod": q})
            elif k == "remove":
                steps.append({"op": "server.remove", "namespace": m["namespace"], "name": m["name"]})
            elif k == "fail":
                steps.append({"op": "server.fail", "verb": r.choice(["create", "delete"]), "code": r.choice([500, 403, 422, 429, 404, 409, 504])})
            elif k == "node":
                steps.append({"op": "node", **r.choice([{"nodeUID": "node-uid-2"}, {"nodeUID": "node-uid-1"}, {"nodeUID": "node-uid-1"}, {"nodeError": "not found yet"}, {}])})
            elif k == "rehash":
                m.setdefault("annotations", {})[HASH] = f"hash{r.randrange(3)}"
        sc["steps"] = steps
        return sc


def main():
    kind, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    g = Gen(f"{kind}-{seed}")
    make = getattr(g, kind)
    for i in range(count):
        print(json.dumps(make(i), separators=(",", ":")))


if __name__ == "__main__":
    main()
