import PushHub
import RichPushModel
import ServiceErrors
import TagExpressions

extension SQLDeviceStore {
    public func devices(_ request: DeviceListRequest, in hub: HubID) async throws -> DevicePage { throw ServiceError(.notReady) }
    public func put(_ installation: InstallationUpsert, in hub: HubID, at now: Timestamp) async throws -> DeviceInstallation {
        throw ServiceError(.notReady)
    }
    public func installation(_ id: RecordID, in hub: HubID) async throws -> DeviceInstallation? { throw ServiceError(.notReady) }
    public func update(
        _ id: RecordID, in hub: HubID, at now: Timestamp,
        _ transform: @escaping @Sendable (DeviceInstallation) throws -> InstallationUpsert
    ) async throws -> DeviceInstallation? { throw ServiceError(.notReady) }
    public func sample(
        _ audience: TagExpression?, format: SendFormat, in hub: HubID, at now: Timestamp, limit: Int
    ) async throws -> [DeviceRecord] { throw ServiceError(.notReady) }
    public func sweep(expiredBefore moment: Timestamp, limit: Int) async throws -> Int { throw ServiceError(.notReady) }
}

extension SQLTelemetryStore {
    public func feedback(after number: Int64, limit: Int, in hub: HubID) async throws -> [DeviceFeedback] {
        throw ServiceError(.notReady)
    }
}
