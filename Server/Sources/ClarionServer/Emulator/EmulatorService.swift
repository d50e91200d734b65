import ServiceErrors

/// How `clarion emulator` runs.
public struct EmulatorOptions: Hashable, Sendable {
    /// Where APNs is answered, over TLS and HTTP/2. Port 0 means any free one.
    public var address: Settings.Address
    /// Where simulated phones subscribe and tests administer.
    public var adminAddress: Settings.Address
    /// Where its certificate authority and its signing key are written.
    public var directory: String

    /// Creates options.
    public init(address: Settings.Address, adminAddress: Settings.Address, directory: String) {
        self.address = address
        self.adminAddress = adminAddress
        self.directory = directory
    }
}

/// The local APNs alone, for anyone's client.
public enum EmulatorService {
    /// Runs until the process is told to stop. `announce` gets the lines for the terminal once it answers.
    public static func run(_ options: EmulatorOptions, announce: @escaping @Sendable (String) -> Void) async throws {
        throw ServiceError(.notReady, "not composed yet")
    }
}
