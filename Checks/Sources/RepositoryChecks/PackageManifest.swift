/// What `swift package dump-package` says of a package, as far as the floors need it.
public struct PackageManifest: Decodable, Sendable {
    public let name: String
    public let targets: [Target]

    /// Where the package lies in the repository: empty, or a folder with a slash.
    public var root: String { name == "clarion-server" ? "Server/" : "" }
    /// The targets that are neither tests nor plugins.
    var sourceTargets: [Target] { targets.filter { $0.type != "test" && $0.type != "plugin" } }

    /// A target of the package.
    public struct Target: Decodable, Sendable {
        public let name: String
        /// `regular`, `executable`, `test`, `system` and so on.
        public let type: String
        public let dependencies: [Dependency]
        /// Where its sources lie in the package, if not in the customary folder.
        public let path: String?

        /// Where its sources lie in the package.
        public var folder: String { path ?? (type == "test" ? "Tests/" : "Sources/") + name }
        /// Whether it stands in for a service or a device of others. Everything else is the product.
        public var isLab: Bool { folder.hasPrefix("Lab/") }
    }

    /// What a target names in its dependencies: another target, or a product of a package.
    public struct Dependency: Decodable, Sendable {
        public let name: String
        /// Absent for a target of the same package.
        public let package: String?

        /// Creates a dependency.
        public init(name: String, package: String?) {
            self.name = name
            self.package = package
        }

        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Form.self)
            for form in Form.allCases where container.contains(form) {
                var parts = try container.nestedUnkeyedContainer(forKey: form)
                name = try parts.decode(String.self)
                package = form == .product ? try parts.decodeIfPresent(String.self) : nil
                return
            }
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "neither byName nor target nor product"))
        }

        private enum Form: String, CodingKey, CaseIterable { case byName, target, product }
    }
}
