/// What the system hears of a background push, once. Late or dishonest answers cost future launches.
public enum BackgroundResult: String, Sendable, Codable, CaseIterable {
    /// Something new is on the device.
    case newData
    /// There was nothing for this user.
    case noData
    /// It should have worked and did not.
    case failed
}
