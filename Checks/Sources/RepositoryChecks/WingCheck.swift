/// Proves that no target of the product uses one of the lab, and that a build of a program of the product compiles none of it.
struct WingCheck {
    /// All targets of a package but tests.
    let targets: [PackageManifest.Target]

    var findings: [Finding] {
        let lab = Set(targets.filter(\.isLab).map(\.name))
        let product = targets.filter { !$0.isLab }
        let uses = product.flatMap { target in
            target.targetNames.filter(lab.contains).map {
                Finding(target.name, "is of the product and uses \($0), which is of the lab")
            }
        }
        let compiled = product.filter { $0.type == "executable" }.flatMap { program in
            closure(of: program).intersection(lab).sorted().map {
                Finding(program.name, "is a program of the product, and its build compiles \($0), which is of the lab")
            }
        }
        return uses + compiled
    }

    /// Everything of this package that a build of the target compiles, in whatever way it comes in.
    private func closure(of target: PackageManifest.Target) -> Set<String> {
        let byName = Dictionary(targets.map { ($0.name, $0) }) { first, _ in first }
        var found: Set<String> = []
        var waiting = target.targetNames
        while let name = waiting.popLast() {
            guard found.insert(name).inserted, let next = byName[name] else { continue }
            waiting += next.targetNames
        }
        return found
    }
}

extension PackageManifest.Target {
    /// The targets of the same package that it uses. A product of another package may have the name of one of them.
    fileprivate var targetNames: [String] { dependencies.filter { $0.package == nil }.map(\.name) }
}
