import ServiceErrors

/// How registrations and feedback look in files. Adapters know; jobs only move lines.
public protocol HubFileFormat: Sendable {
    /// A record as a line, with its line end.
    func line(for record: DeviceRecord) -> String

    /// The line that tells of a removed record, with its line end.
    func line(forRemoved id: RecordID) -> String

    /// A line that failed, with the reason in a form that the reader of lines passes over, so that the file can be mended and
    /// imported as it is. `line` is absent when it was too long to be kept.
    func line(failed line: [UInt8]?, number: Int, reason: String) -> String

    /// What a line asks for in a job of this kind; `nil` for a line with nothing but remarks. Throws `ServiceError` with the
    /// reason.
    func change(in line: [UInt8], for kind: HubJob.Kind) throws -> RegistrationChange?

    /// Feedback as one document.
    func document(for feedback: DeviceFeedback) -> String
}
