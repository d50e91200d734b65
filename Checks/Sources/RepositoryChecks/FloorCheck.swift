/// Proves from the manifests and the import lines that every target uses only what stands below it, and says so in its manifest; and
/// that no target of the product uses one of the lab.
public struct FloorCheck: Sendable {
    private let plan: FloorPlan
    private let modulesPage: String

    /// Checks against a plan, and that `modulesPage` has a paragraph on every target.
    public init(plan: FloorPlan, modulesPage: String) {
        self.plan = plan
        self.modulesPage = modulesPage
    }

    /// What is wrong with the targets of a package; `files` gives the Swift files of a target.
    public func findings(in package: PackageManifest, files: (PackageManifest.Target) -> [SourceFile]) -> [Finding] {
        let targets = package.sourceTargets
        let ofTargets = targets.flatMap { target in
            var findings = missing(target) + crowd(target)
            findings += target.dependencies.compactMap { judge(target, uses: $0) }
            findings += undeclaredImports(of: target, in: files(target))
            return findings
        }
        return ofTargets + WingCheck(targets: targets).findings
    }

    /// Names of the plan that are no target of any of the packages: a rule about them holds nothing up.
    public func unknownTargets(in packages: [PackageManifest]) -> [Finding] {
        let targets = Set(packages.flatMap { $0.targets.map(\.name) })
        return plan.names.subtracting(targets).sorted().map {
            Finding($0, "is in Checks' FloorPlan, and no package has such a target")
        }
    }

    private func missing(_ target: PackageManifest.Target) -> [Finding] {
        var findings: [Finding] = []
        if plan.floors[target.name] == nil { findings.append(Finding(target.name, "has no floor in Checks' FloorPlan")) }
        if !modulesPage.contains("`\(target.name)`") {
            findings.append(Finding(target.name, "has no paragraph in Documentation/Modules.md"))
        }
        return findings
    }

    private func judge(_ target: PackageManifest.Target, uses dependency: PackageManifest.Dependency) -> Finding? {
        let name = dependency.name
        if plan.forbidden[target.name]?.contains(name) == true { return Finding(target.name, "must never use \(name)") }
        guard let floor = plan.floors[target.name] else { return nil }
        guard let other = plan.floors[name] else {
            guard let allowed = plan.allowedProducts[target.name], !allowed.contains(name) else { return nil }
            return Finding(target.name, "stands too low for the product \(name)")
        }
        if other < floor || plan.neighbours[target.name]?.contains(name) == true { return nil }
        return Finding(target.name, "on floor \(floor) uses \(name) on floor \(other)")
    }

    /// A target that uses very many others is several.
    private func crowd(_ target: PackageManifest.Target) -> [Finding] {
        let count = plan.useCount(of: target)
        guard count > FloorPlan.useLimit else { return [] }
        return [Finding(target.name, "uses \(count) targets of the project, more than \(FloorPlan.useLimit)")]
    }

    private func undeclaredImports(of target: PackageManifest.Target, in files: [SourceFile]) -> [Finding] {
        let declared = Set(target.dependencies.map(\.name)).union([target.name]).union(Self.platformModules)
        return files.flatMap { file in
            file.imports.filter { !declared.contains($0.module) }.map { module, line in
                Finding("\(file.path):\(line)", "\(target.name) imports \(module), which its manifest does not name")
            }
        }
    }

    /// What comes with a toolchain or an operating system.
    static let platformModules: Set<String> = [
        "Foundation", "FoundationEssentials", "FoundationNetworking", "Glibc", "Musl", "Darwin", "Dispatch", "Synchronization",
        "Swift", "_Concurrency", "os", "Testing", "CryptoKit", "Security", "UIKit", "SwiftUI", "UserNotifications",
        "UserNotificationsUI", "Network", "ImageIO", "Combine", "CoreGraphics", "Observation",
        "ActivityKit", "BackgroundTasks", "WidgetKit", "AVKit", "AVFoundation", "PackageDescription", "System",
    ]
}
