import Synchronization

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The time zones of the system, read from the files of its tz database when they are asked for.
///
/// Not those of Foundation: on Linux it has a copy of its own inside, which can be older than the system's by a year.
public final class TimeZoneDatabase: Sendable {
    /// Where systems have the files.
    public static let systemDirectory = "/usr/share/zoneinfo"

    private let directory: String
    private let state = Mutex<(version: String??, zones: [String: TimeZoneRules])>((nil, [:]))
    /// More names than the database has, so that the memory stays bounded if someone adds files.
    private static let limit = 1000

    /// The zones of this directory.
    public init(directory: String = TimeZoneDatabase.systemDirectory) { self.directory = directory }

    /// Whether there is such a directory. Without it only `UTC` is known.
    public var isInstalled: Bool { FileManager.default.fileExists(atPath: directory) }

    /// The version of the files, such as `2026b`; `nil` when they do not say it.
    public var version: String? {
        if let text = Self.firstLine("\(directory)/tzdata.zi"), text.hasPrefix("# version ") { return String(text.dropFirst(10)) }
        return Self.firstLine("\(directory)/+VERSION")
    }

    /// Looks whether the files are of another version than at the last look, and forgets what was read. True at the first look.
    public func refresh() -> Bool {
        let version = version
        return state.withLock { state in
            guard version != state.version else { return false }
            state = (.some(version), [:])
            return true
        }
    }

    /// Makes the next look like the first.
    public func lookAgain() { state.withLock { $0.version = nil } }

    /// The rules of a zone such as `Europe/Berlin`; `nil` for a name that the database does not have. `UTC` needs no files.
    public func zone(_ name: String) -> TimeZoneRules? {
        if name == "UTC" { return .utc }
        guard Self.isName(name) else { return nil }
        if let known = state.withLock({ $0.zones[name] }) { return known }
        guard let file = try? Data(contentsOf: URL(filePath: "\(directory)/\(name)")), file.count < 1 << 20,
            let rules = TimeZoneRules(tzif: Array(file))
        else { return nil }
        state.withLock { if $0.zones.count < Self.limit { $0.zones[name] = rules } }
        return rules
    }

    /// Whether a text may be the name of a zone: a path of up to three words. The files in `right` count leap seconds.
    private static func isName(_ text: String) -> Bool {
        let words = text.split(separator: "/", omittingEmptySubsequences: false)
        let isCharacter = { (byte: UInt8) in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || [0x2B, 0x2D, 0x5F].contains(byte)
        }
        return text.utf8.count <= 64 && (1...3).contains(words.count) && words[0] != "right" && words[0] != "posix"
            && words.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(isCharacter) }
    }

    /// The first line of a file, at most 64 bytes.
    private static func firstLine(_ path: String) -> String? {
        guard let file = try? Data(contentsOf: URL(filePath: path)) else { return nil }
        return String(decoding: file.prefix(64).prefix { $0 != 0x0A }, as: UTF8.self)
    }
}
