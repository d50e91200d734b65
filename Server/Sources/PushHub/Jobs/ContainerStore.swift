import RichPushModel
import WireText

/// Keeps the files of import and export jobs and of feedback, on this node or for all that share the store: bounded altogether, and removed
/// by age. Errors are `ServiceError` (`storage-unavailable`, and `quota-exceeded` when the bound is reached).
public protocol ContainerStore: Sendable {
    /// Starts to store a file; it replaces one of that name once it is finished. Throws `payload-too-large` while writing when the
    /// file exceeds the limit.
    func put(_ blob: BlobReference, limit: Int64) async throws -> any BlobUpload

    /// Opens a file for writing from an offset on, at most its size; a missing file is created. Opening does not change it, since
    /// another writer may have written meanwhile. A writer that overwrites bytes writes the same ones; other bytes only after a cut.
    func append(to blob: BlobReference, at offset: Int64) async throws -> any BlobAppending

    /// Opens a file; `nil` when there is none.
    func open(_ blob: BlobReference) async throws -> (any BlobReading)?

    /// The files of a container whose names begin with the prefix, in order after `name`, at most `limit`.
    func list(
        _ container: ContainerName, of hub: HubID, prefix: String, after name: BlobName?, limit: Int
    ) async throws -> [BlobInformation]

    /// Removes a file; whether there was one.
    func remove(_ blob: BlobReference) async throws -> Bool

    /// Removes the files that were last written before the moment, and the containers that are empty then; returns how many
    /// files went.
    func sweep(writtenBefore moment: Timestamp) async throws -> Int
}

/// A file as a list shows it.
public struct BlobInformation: Hashable, Sendable {
    public var name: BlobName
    public var size: Int64
    public var writtenAt: Timestamp

    /// Creates information.
    public init(name: BlobName, size: Int64, writtenAt: Timestamp) {
        self.name = name
        self.size = size
        self.writtenAt = writtenAt
    }
}

/// A file on its way into the store. Letting go of it without `finish` leaves nothing behind.
public protocol BlobUpload: Sendable {
    /// Adds bytes.
    func write(_ chunk: [UInt8]) async throws

    /// Makes the file durable and visible.
    func finish() async throws
}

/// A file that grows.
public protocol BlobAppending: Sendable {
    /// Writes bytes behind those that were written through this value.
    func write(_ chunk: [UInt8]) async throws

    /// Cuts off what lies behind that many bytes.
    func cut(to size: Int64) async throws

    /// Makes what was written survive a power cut.
    func synchronize() async throws
}

/// An opened file. Where it lies on a disk, it stays readable while this value lives; elsewhere a read of one that was removed may throw.
public protocol BlobReading: Sendable {
    /// How many bytes there were when it was opened.
    var size: Int64 { get }

    /// When it was last written.
    var writtenAt: Timestamp { get }

    /// Exactly `count` bytes from `offset` on; both lie within the file.
    func read(at offset: Int64, count: Int) async throws -> [UInt8]
}

/// The name of a container of files: 3 to 63 lower-case letters, digits and hyphens, as those of blob stores elsewhere.
public struct ContainerName: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    /// Creates a name; `nil` when the text breaks the rule above.
    public init?(_ text: String) {
        let isAllowed = text.utf8.allSatisfy { $0.isASCIILowercaseLetter || $0.isASCIIDigit || $0 == UInt8(ascii: "-") }
        guard (3...63).contains(text.utf8.count), isAllowed else { return nil }
        self.text = text
    }

    private init(trusted text: String) { self.text = text }

    /// A new name that cannot be guessed.
    public static func random() -> ContainerName {
        let digits = Array("0123456789abcdef".unicodeScalars)
        var text = ""
        for _ in 0..<32 { text.unicodeScalars.append(digits[Int.random(in: 0..<16)]) }
        return ContainerName(trusted: text)
    }

    /// The container in which a hub's feedback is laid down.
    public static let feedback = ContainerName(trusted: "feedback")

    /// The container in which the errors of each send are one file, made when it is read.
    public static let sendErrors = ContainerName(trusted: "send-errors")

    public var description: String { text }
}

/// The name of a file in a container: 1 to 200 letters, digits and `. _ - ~ + = @ ( ) ,`, in parts with slashes between them. No part
/// is empty, `.` or `..`.
public struct BlobName: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let text: String

    /// Creates a name; `nil` when the text breaks the rule above.
    public init?(_ text: String) {
        let isAllowed = text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "._-~+=@(),/".utf8.contains($0) }
        guard (1...200).contains(text.utf8.count), isAllowed else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else { return nil }
        self.text = text
    }

    public var description: String { text }

    public static func < (left: BlobName, right: BlobName) -> Bool { left.text < right.text }
}

/// One file: of a hub, in a container, under a name.
public struct BlobReference: Hashable, Sendable {
    public var hub: HubID
    public var container: ContainerName
    public var name: BlobName

    public init(hub: HubID, container: ContainerName, name: BlobName) {
        self.hub = hub
        self.container = container
        self.name = name
    }
}
