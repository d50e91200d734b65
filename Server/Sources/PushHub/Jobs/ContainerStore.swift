import RichPushModel

/// Keeps the files of import and export jobs and of feedback, on this node or for all that share the store: bounded altogether, and removed
/// by age. Errors are `ServiceError` (`storage-unavailable`, and `quota-exceeded` when the bound is reached).
public protocol ContainerStore: Sendable {
    /// Starts to store a file; it replaces one of that name once it is finished. Throws `payload-too-large` while writing when the
    /// file exceeds the limit.
    func put(_ blob: BlobReference, limit: Int64) async throws -> any BlobUpload

    /// Opens a file for writing from an offset on, at most its size; a missing file is created. Nothing of it changes before something is
    /// written: who opens it too late must not touch what another has written meanwhile. Who writes where something is already writes
    /// the same bytes; other ones only after a cut.
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
