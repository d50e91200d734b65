import Testing

/// One promise of a storage port, as a check that runs on any implementation. Each check starts from an empty store.
public struct StoragePromise<Storage: Sendable>: Sendable, CustomTestStringConvertible {
    /// The promise as a statement.
    public let name: String
    /// Records an issue, or throws, when the promise is broken.
    public let check: @Sendable (Storage) async throws -> Void

    /// Creates a promise.
    public init(_ name: String, _ check: @escaping @Sendable (Storage) async throws -> Void) {
        self.name = name
        self.check = check
    }

    public var testDescription: String { name }
}
