import ContentStorage
import SQLStorage
import ServerSettings
import ServerStorage

extension Doctor {
    /// Whether the contents in the bucket are those of the database, as a start wants it; `nil` when contents lie in the data directory.
    static func contentOwnerCheck(_ settings: Settings) -> DoctorCheck? {
        guard let place = settings.contentStore else { return nil }
        return DoctorCheck("owner of contents") {
            var options = S3Options(place)
            (options.attemptDeadline, options.requestDeadline) = (.seconds(3), .seconds(5))
            do {
                let bucket = try S3ContentStore(options)
                let mark = await Result.awaiting { try await bucket.owner() }
                await bucket.shutDown()
                return await ownerFinding(settings, place, try mark.get())
            } catch {
                return .notice(
                    "it is not known while the content store cannot be read", mend: "see what is said of the content store")
            }
        }
    }

    private static func ownerFinding(
        _ settings: Settings, _ place: Settings.ContentStore, _ mark: S3OwnerMark?
    ) async -> DoctorCheck.Finding {
        let bucket = ContentOwnership.name(of: place)
        func judged(_ owner: ContentOwner?, at place: String) -> DoctorCheck.Finding {
            let standing = ContentStanding(bucket: mark, database: owner, place: place)
            if let refusal = standing.refusal(bucket: bucket) { return .bad(refusal, mend: ownerMend) }
            return .good(standing == .own ? "those of this database" : "nobody yet; the first start makes them this database's")
        }
        return await finding(settings, mend: ownerMend, none: { judged(nil, at: "") }) { database in
            let claimant = try await ContentClaimant(database, settings)
            return judged(try await claimant.store.owner(), at: claimant.place)
        }
    }

    private static let ownerMend = "see One bucket and two databases in Documentation/Operations.md"
}

extension Result where Failure == any Error {
    /// What asynchronous work came to.
    static func awaiting(_ work: () async throws -> Success) async -> Result {
        do { return .success(try await work()) } catch { return .failure(error) }
    }
}
