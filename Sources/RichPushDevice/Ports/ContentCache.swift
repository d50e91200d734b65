import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Fetched and checked content on the device, for app and extension. It forgets what was not used for longest.
public protocol ContentCache: Sendable {
    /// Makes room for a session.
    func begin(_ session: SessionID) throws(StorageError)
    /// Forgets everything.
    func wipe() throws(StorageError)
    /// A new file name to download to. It lies where `adopt` can move it from, and nowhere else.
    func newDownload(for session: SessionID, now: Timestamp) throws(StorageError) -> URL
    /// Takes a checked file in and makes room for it.
    func adopt(_ file: URL, as key: ContentKey, descriptor: ContentDescriptor, now: Timestamp) throws(StorageError)
        -> CachedContent
    /// The content, and notes that it was used, as far as there is room to note anything; `nil` when it is not there.
    func content(_ key: ContentKey, now: Timestamp) throws(StorageError) -> CachedContent?
    /// Whether content of this notification is there, without using it.
    func contains(_ key: ContentKey) -> Bool
    func remove(_ key: ContentKey) throws(StorageError)
    /// The same content under a name that a person can read and an ending that tells its type: players look at the ending, and
    /// whoever is handed a file sees its name. `name` is the sender's and may say anything. It goes with the content.
    func handedOut(
        _ content: CachedContent, named name: String?, of session: SessionID
    ) throws(StorageError) -> CachedContent
    /// A copy that the system may move away, with an ending that tells its type.
    func copyForSystem(_ content: CachedContent, of session: SessionID, now: Timestamp) throws(StorageError) -> URL
}

/// The name of a content: the notification and the exact version of its bytes.
public struct ContentKey: Hashable, Sendable {
    public var session: SessionID
    public var richID: RichID
    /// As in `ContentDescriptor`.
    public var sha256: String

    /// Creates a name.
    public init(_ richID: RichID, sha256: String, of session: SessionID) {
        self.session = session
        self.richID = richID
        self.sha256 = sha256
    }
}
