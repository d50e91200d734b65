import HubProtocol

/// Registrations (Reference/AzureNotificationHubs.md#2-1 to #2-5).
extension RemoteHub {
    private static let entryType = HeaderField("Content-Type", "application/atom+xml;type=entry;charset=utf-8")

    /// Registers a device anew, whether or not the hub knows its handle.
    public func createRegistration(_ description: RegistrationDescription) async throws -> RegistrationDescription {
        try await write(
            RemoteCall(
                method: "POST", path: ["registrations"], headers: [Self.entryType], body: Array(description.request().utf8),
                expected: [200, 201]))
    }

    /// A new id for a registration, to be used with `putRegistration`.
    public func createRegistrationID() async throws -> String {
        let answer = try await answer(to: RemoteCall(method: "POST", path: ["registrationIDs"], expected: [201]))
        guard let id = answer.headers[LocationHeader.name].flatMap(LocationHeader.id(in:)) else {
            throw AnswerReading.unreadable("registration id")
        }
        return id
    }

    /// Creates a registration under its id or replaces it; with a condition it only replaces one that fulfils it.
    ///
    /// Throws an error of status 410 when the hub does not take the id any more: make a new one then.
    @discardableResult
    public func putRegistration(
        _ description: RegistrationDescription, id: String, if condition: IfMatch? = nil
    ) async throws -> RegistrationDescription {
        try await write(
            RemoteCall(
                method: "PUT", path: ["registrations", id], headers: [Self.entryType] + Self.header(condition),
                body: Array(description.request().utf8), expected: [200, 201]))
    }

    /// The registration, or `nil`.
    public func registration(_ id: String) async throws -> RegistrationDescription? {
        let answer = try await answer(to: RemoteCall(method: "GET", path: ["registrations", id], expected: [200, 404]))
        return answer.status == 404 ? nil : try Self.entry(answer)
    }

    /// Removes a registration; whether there was one.
    @discardableResult
    public func deleteRegistration(_ id: String, if condition: IfMatch = .any) async throws -> Bool {
        let call = RemoteCall(
            method: "DELETE", path: ["registrations", id], headers: Self.header(condition), expected: [200, 404])
        return try await answer(to: call).status == 200
    }

    /// Every registration of the hub, read page by page. Needs a key with the right to manage.
    public func registrations(pageSize: Int = 100) -> RemoteRegistrations {
        RemoteRegistrations(hub: self, path: ["registrations"], pageSize: pageSize)
    }

    /// The registrations with a tag, read page by page. Needs a key with the right to manage.
    public func registrations(withTag tag: String, pageSize: Int = 100) -> RemoteRegistrations {
        RemoteRegistrations(hub: self, path: ["tags", tag, "registrations"], pageSize: pageSize)
    }

    /// The registrations of a device token, read page by page.
    public func registrations(
        withHandle handle: String, on platform: RegistrationPlatform = .apple, pageSize: Int = 100
    ) -> RemoteRegistrations {
        let property = RegistrationFilter.Property(rawValue: platform.handleElement) ?? .channelURI
        // Filters compare upper case (Reference/AzureNotificationHubs.md#2-1).
        let value = platform == .apple ? handle.uppercased() : handle
        return RemoteRegistrations(
            hub: self, path: ["registrations"], filter: RegistrationFilter(handle: .init(property, value)), pageSize: pageSize)
    }

    private func write(_ call: RemoteCall) async throws -> RegistrationDescription {
        try Self.entry(try await answer(to: call))
    }

    private static func entry(_ answer: HubResponse) throws(RemoteHubError) -> RegistrationDescription {
        do { return try RegistrationDescription.read(entry: answer.body) } catch {
            throw AnswerReading.unreadable("registration")
        }
    }

    private static func header(_ condition: IfMatch?) -> [HeaderField] {
        condition.map { [HeaderField("If-Match", $0.header)] } ?? []
    }
}

/// A list of registrations of a hub elsewhere, in pages that are asked for as they are needed.
public struct RemoteRegistrations: AsyncSequence, Sendable {
    public typealias Element = RegistrationDescription

    let hub: RemoteHub
    let path: [String]
    var filter: RegistrationFilter?
    let pageSize: Int

    public func makeAsyncIterator() -> Iterator { Iterator(list: self) }

    /// Reads the list. Throws `RemoteHubError`.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let list: RemoteRegistrations
        private var page: [RegistrationDescription] = []
        private var position = 0
        private var token: String?
        private var isAtEnd = false

        fileprivate init(list: RemoteRegistrations) { self.list = list }

        public mutating func next() async throws -> RegistrationDescription? {
            // A page may be empty and still not be the last.
            while position == page.count {
                if isAtEnd { return nil }
                (page, token) = try await list.page(after: token)
                position = 0
                isAtEnd = token == nil
            }
            position += 1
            return page[position - 1]
        }
    }

    /// One page and the token of the next; the token is the hub's own and is handed back as it came.
    private func page(after token: String?) async throws -> ([RegistrationDescription], String?) {
        var query = ListQuery(top: Swift.max(1, pageSize), filter: filter).parameters
        if let token { query.append(HeaderField("continuationtoken", token)) }
        let answer = try await hub.answer(to: RemoteCall(method: "GET", path: path, query: query, expected: [200, 404]))
        guard answer.status == 200 else { return ([], nil) }
        let next = answer.headers[ContinuationToken.headerName].flatMap { $0.isEmpty ? nil : $0 }
        // With a hub that repeats the same token, the list would never end.
        guard next == nil || next != token else { throw AnswerReading.unreadable("new continuation token") }
        do { return (try RegistrationDescription.read(feed: answer.body), next) } catch {
            throw AnswerReading.unreadable("list of registrations")
        }
    }
}

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
