import HubProtocol

/// Installations (Reference/AzureNotificationHubs.md#2-6 and #5).
extension RemoteHub {
    private static let jsonType = HeaderField("Content-Type", "application/json; charset=utf-8")
    private static let patchType = HeaderField("Content-Type", "application/json-patch+json; charset=utf-8")

    /// A hub elsewhere may have wider limits; its answers are bounded by their size.
    private static let answerLimits: HubLimits = {
        var limits = HubLimits()
        limits.installationBytes = 8 * 1024 * 1024
        limits.templateBytes = 1024 * 1024
        limits.tags = 1000
        limits.templates = 1000
        return limits
    }()

    /// Creates an installation or replaces all of it. Azure's hub answers before it can be read again.
    public func putInstallation(_ installation: InstallationDocument) async throws {
        let call = RemoteCall(
            method: "PUT", path: ["installations", installation.installationID], headers: [Self.jsonType],
            body: Array(installation.json.utf8), expected: [200, 201, 204])
        _ = try await answer(to: call)
    }

    /// The installation, or `nil`.
    public func installation(_ id: String) async throws -> InstallationDocument? {
        let answer = try await answer(to: RemoteCall(method: "GET", path: ["installations", id], expected: [200, 404]))
        guard answer.status == 200 else { return nil }
        do {
            return try InstallationDocument(parsing: answer.body, pathID: id, limits: Self.answerLimits)
        } catch { throw AnswerReading.unreadable("installation") }
    }

    /// Changes an installation, all operations or none; throws an error of status 404 when there is none.
    public func patchInstallation(_ id: String, _ patch: InstallationPatch) async throws {
        let call = RemoteCall(
            method: "PATCH", path: ["installations", id], headers: [Self.patchType], body: Array(patch.json.utf8),
            expected: [200, 204])
        _ = try await answer(to: call)
    }

    /// Removes an installation. The hub does not say whether there was one.
    public func deleteInstallation(_ id: String) async throws {
        _ = try await answer(to: RemoteCall(method: "DELETE", path: ["installations", id], expected: [200, 204, 404]))
    }
}
