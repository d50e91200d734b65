import APNsEmulation
import ServiceErrors

/// SETTINGS in the middle of a connection, as a fault or as an action.
struct SettingsDocument {
    var streams: Int?
    var initialWindowSize: Int?
    var maximumFrameSize: Int?

    /// What is announced. Throws `invalid-field`.
    func change() throws -> SettingsChange {
        guard streams != nil || initialWindowSize != nil || maximumFrameSize != nil else {
            throw ServiceError(.invalidField, "one of the fields 'streams', 'initialWindowSize' and 'maximumFrameSize' is needed")
        }
        return SettingsChange(
            streams: try streams.map { try FaultDocument.within($0, 0...1_000_000, "streams") },
            initialWindowSize: try initialWindowSize.map {
                try FaultDocument.within($0, SettingsChange.windowSizes, "initialWindowSize")
            },
            maximumFrameSize: try maximumFrameSize.map {
                try FaultDocument.within($0, SettingsChange.frameSizes, "maximumFrameSize")
            })
    }
}
