import ContentStorage
import ServerSettings
import ServiceErrors

extension Doctor {
    /// Writes, lists, reads and removes a few bytes; `nil` when contents lie in the data directory.
    static func contentStoreCheck(_ settings: Settings) -> DoctorCheck? {
        guard let place = settings.contentStore else { return nil }
        return DoctorCheck("content store") {
            var options = S3Options(place)
            (options.attemptDeadline, options.requestDeadline) = (.seconds(3), .seconds(5))
            let name = "bucket \(place.location.bucket) at \(place.location.endpoint)"
            do {
                let store = try S3ContentStore(options)
                let condition = await Result.awaiting { try await store.condition() }
                await store.shutDown()
                switch try condition.get() {
                case .good: return .good("\(name) can be written and read")
                case .away(let sentence):
                    return .bad(
                        "\(name): \(sentence)", mend: "let the machine reach it; a server starts, and is not ready before it does"
                    )
                case .refused(let sentence):
                    return .bad("\(name): \(sentence)", mend: "look at the settings that begin with s3-")
                }
            } catch {
                return .bad(
                    (error as? ServiceError)?.detail ?? "\(name) cannot be looked at", mend: "see Documentation/Settings.md")
            }
        }
    }
}
