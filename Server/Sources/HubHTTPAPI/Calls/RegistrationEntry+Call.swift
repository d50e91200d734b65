import HubProtocol
import PushHub

extension RegistrationEntry {
    /// The entry of a stored record, for the client of a call.
    init(_ record: DeviceRecord, for call: HubCall) {
        self.init(
            RegistrationDescription(record, omitsOddAddresses: call.omitsOddAddresses), published: record.createdAt,
            updated: record.registeredAt)
    }
}
