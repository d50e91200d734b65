import ServerSettings

/// How `clarion emulator` runs.
public struct EmulatorOptions: Hashable, Sendable {
    /// Where APNs is answered, over TLS and HTTP/2. Port 0 means any free one.
    public var address: Settings.Address
    /// Where the channel management of the sandbox is answered.
    public var managementPort = 2_195
    /// Where production is answered; `nil` leaves it out.
    public var productionPort: Int?
    /// Where the channel management of production is answered.
    public var productionManagementPort = 2_196
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
