/// What a line of an import asks for.
public enum RegistrationChange: Hashable, Sendable {
    case put(DeviceUpsert)
    case remove(RecordID, expecting: DevicePrecondition)
}
