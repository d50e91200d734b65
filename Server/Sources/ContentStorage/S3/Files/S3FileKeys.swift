import PushHub

/// The keys of the files of jobs and feedback, below the prefix: `files/{hub number}/{container}/{name}!` and one of
///
/// - `-`: there is such a file, with or without bytes,
/// - `.`: what was uploaded as a whole,
/// - `{offset}-{size}`: bytes that a job wrote, the offset with 19 digits. An object cannot be appended to, so a file that grows is many of
///   them.
///
/// No name has a `!`, and it comes before every character that a name may have: keys are in the order of names.
enum S3FileKeys {
    /// What an object is to its file.
    enum Part: Hashable {
        case mark
        case whole
        case page(offset: Int64)
    }

    static let files = "files/"

    static func container(_ container: ContainerName, of hub: HubID) -> String { "\(files)\(hub.number)/\(container.text)/" }

    /// The beginning of all keys of a file.
    static func start(_ blob: BlobReference) -> String { container(blob.container, of: blob.hub) + blob.name.text + "!" }

    static func mark(_ blob: BlobReference) -> String { start(blob) + "-" }

    static func whole(_ blob: BlobReference) -> String { start(blob) + "." }

    static func page(of blob: BlobReference, at offset: Int64, size: Int64) -> String {
        let digits = String(offset)
        return start(blob) + String(repeating: "0", count: max(0, 19 - digits.count)) + digits + "-\(size)"
    }

    /// What comes after all keys of the file with this name.
    static func end(of name: BlobName, in container: ContainerName, of hub: HubID) -> String {
        start(BlobReference(hub: hub, container: container, name: name)) + ":"
    }

    /// What a key says; `nil` when it is none of these.
    static func read(_ key: String) -> (blob: BlobReference, part: Part)? {
        guard key.hasPrefix(files), let mark = key.lastIndex(of: "!") else { return nil }
        let parts = key[..<mark].dropFirst(files.count).split(
            separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let hub = Int64(parts[0]), let container = ContainerName(String(parts[1])),
            let name = BlobName(String(parts[2])), let part = part(key[key.index(after: mark)...])
        else { return nil }
        return (BlobReference(hub: HubID(hub), container: container, name: name), part)
    }

    private static func part(_ text: Substring) -> Part? {
        switch text {
        case "-": return .mark
        case ".": return .whole
        default:
            let words = text.split(separator: "-", omittingEmptySubsequences: false)
            guard words.count == 2, let offset = Int64(words[0]), offset >= 0, Int64(words[1]) != nil else { return nil }
            return .page(offset: offset)
        }
    }
}
