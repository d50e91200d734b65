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

    /// The registrations of a device handle, read page by page.
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
