import ServiceErrors

/// The settings of a node as it runs with them. Nothing in it is secret.
public struct NodeSettings: Sendable, Codable, Hashable {
    /// One setting.
    public struct Entry: Sendable, Codable, Hashable {
        public var name: String
        /// The chapter of the reference page.
        public var section: String
        /// Absent when there is no value; `(secret)` in place of a secret.
        public var value: [String]?
        /// Where the value comes from: the flag, the variable, the file with its line, or `default`.
        public var origin: String
        /// Sources of lower rank that name the setting too.
        public var overrides: [String]
        public var isDefault: Bool
        /// What the setting is for.
        public var meaning: String

        /// Creates an entry.
        public init(
            name: String, section: String, value: [String]?, origin: String, overrides: [String], isDefault: Bool,
            meaning: String
        ) {
            self.name = name
            self.section = section
            self.value = value
            self.origin = origin
            self.overrides = overrides
            self.isDefault = isDefault
            self.meaning = meaning
        }
    }

    /// The file that was read, if any.
    public var file: String?
    public var settings: [Entry]

    /// Creates a value.
    public init(file: String?, settings: [Entry]) {
        self.file = file
        self.settings = settings
    }
}

extension RichPushBackend {
    /// The settings with which this node runs. Throws `not-found` where they are not known.
    public func nodeSettings() throws(ServiceError) -> NodeSettings {
        guard let settings = parts.nodeSettings else { throw ServiceError(.notFound, "the settings are not known here") }
        return settings
    }
}
