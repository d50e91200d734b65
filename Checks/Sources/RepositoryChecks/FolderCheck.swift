/// Proves that the folders of a module form no circle: inside a module there are floors too.
///
/// Folder A uses folder B when a file in A mentions a type that a file in B declares, calls a function that stands there outside of
/// every type, or uses a member that an extension there adds. The subfolders of a module count, each with all that lies in it, and
/// its root as one more, `.`; a type inside another counts through the outermost one, but where an extension declares it.
///
/// Swift is read word by word, without its types, so some uses are not seen: members of the types themselves, initializers that
/// extensions add, and what only stands in the interpolation of a string. A member of an extension counts only when its name has at
/// least two words, is declared once in all modules and is no label: another member of that name would be a false alarm.
public struct FolderCheck: Sendable {
    private let allowed: Set<FolderUse>

    /// Checks against a plan.
    public init(plan: FloorPlan) { allowed = plan.folderCircles }

    /// The circles in the modules that these files belong to, and the uses that the plan allows without need.
    public func findings(in files: [SourceFile]) -> [Finding] {
        let modules = Dictionary(grouping: files) { Self.root(of: $0.path) ?? "" }.filter { !$0.key.isEmpty }
        let outlines = modules.mapValues { $0.sorted { $0.path < $1.path }.map(FileOutline.init) }
        let declared = outlines.values.joined().reduce(into: [String: Int]()) { $0.merge($1.declared, uniquingKeysWith: +) }
        let unknown = allowed.filter { use in !outlines.keys.contains { Self.module(at: $0) == use.module } }
        return outlines.sorted { $0.key < $1.key }.flatMap { root, files in
            judge(Self.graph(of: files, root: root, declared: declared), root)
        } + unknown.sorted().map(Self.unused)
    }

    private func judge(_ graph: FolderGraph, _ root: String) -> [Finding] {
        let allowed = allowed.filter { $0.module == Self.module(at: root) }.sorted()
        var rest = graph
        for use in allowed { rest.remove(use.from, uses: use.to) }
        let circles = rest.circles.map { circle in
            let steps = zip(circle, circle.dropFirst() + circle.prefix(1)).map { from, to in
                "\(from) uses \(to) (\(graph.uses[from]?[to].map { "\($0.place) \($0.name)" } ?? ""))"
            }
            return Finding(root, "folders form a circle: " + steps.joined(separator: ", "))
        }
        let unused = allowed.filter { graph.uses[$0.from]?[$0.to] == nil || !rest.closesCircle($0.from, uses: $0.to) }
        return circles + unused.map(Self.unused)
    }

    private static func unused(_ use: FolderUse) -> Finding {
        Finding(use.module, "FloorPlan lets the folder \(use.from) use \(use.to), and no circle needs that")
    }

    /// The folder of the module that a path lies in, `Server/Sources/PushHub`; `nil` for a file of no module.
    private static func root(of path: String) -> String? {
        guard path.hasSuffix(".swift"), let base = bases.first(where: { path.hasPrefix($0) }) else { return nil }
        let parts = path.dropFirst(base.count).split(separator: "/")
        return parts.count > 1 ? base + parts[0] : nil
    }

    private static let bases = ["Server/Sources/", "Server/Lab/", "Sources/"]

    private static func module(at root: String) -> String { String(root.split(separator: "/").last ?? "") }

    private static func folder(of path: String, in root: String) -> String {
        let parts = path.dropFirst(root.count + 1).split(separator: "/")
        return parts.count > 1 ? String(parts[0]) : "."
    }

    private static func graph(of files: [FileOutline], root: String, declared: [String: Int]) -> FolderGraph {
        let folders = files.reduce(into: [String: String]()) { $0[$1.path] = folder(of: $1.path, in: root) }
        let names = ModuleNames(module: module(at: root), files: files, declared: declared)
        var graph = FolderGraph()
        for file in files {
            for index in file.tokens.indices {
                guard let path = names.path(of: index, in: file), let from = folders[file.path], let to = folders[path] else {
                    continue
                }
                graph.note(from, uses: to, .init(place: "\(file.path):\(file.tokens[index].line)", name: file.text(index)))
            }
        }
        return graph
    }
}

/// That a folder of a module uses another one.
struct FolderUse: Hashable, Sendable, Comparable {
    let module: String
    let from: String
    let to: String

    init(_ module: String, _ from: String, uses to: String) {
        self.module = module
        self.from = from
        self.to = to
    }

    static func < (left: FolderUse, right: FolderUse) -> Bool {
        (left.module, left.from, left.to) < (right.module, right.from, right.to)
    }
}
