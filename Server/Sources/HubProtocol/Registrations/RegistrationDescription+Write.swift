extension RegistrationDescription {
    /// The two forms of the element.
    enum Form {
        /// Named after the type: answers, and requests of all clients but one.
        case named
        /// `RegistrationDescription` with `i:type`: lines of export files. In answers it breaks Go, JS and PHP
        /// (Reference/AzureNotificationHubs.md#0-4).
        case typed
    }

    /// The body of a request that creates or replaces this registration.
    public func request() -> String {
        var writer = XMLWriter()
        AtomEnvelope.request(to: &writer) { write(to: &$0, form: .named, omitsSingleHeader: false, isRequest: true) }
        return writer.text
    }

    /// Writes the element.
    ///
    /// - Parameter omitsSingleHeader: leaves out a collection of exactly one header, at which the JavaScript client throws
    ///   (Reference/AzureNotificationHubs.md#2-1).
    /// - Parameter isRequest: leaves out what only the hub knows: entity tag and expiry.
    func write(to writer: inout XMLWriter, form: Form, omitsSingleHeader: Bool, isRequest: Bool = false) {
        let name = form == .named ? typeName : "RegistrationDescription"
        switch form {
        case .named:
            writer.raw("<")
            writer.raw(name)
            writer.raw(Self.declarations)
        case .typed:
            writer.open(name, ["xmlns": Namespace.serviceBus, "xmlns:i": Namespace.schemaInstance, "i:type": typeName])
        }
        if !isRequest {
            writer.element("ETag", etag)
            writer.element("ExpirationTime", DateText.expiry(expirationTime))
        }
        writer.element("RegistrationId", registrationID)
        writer.element("Tags", tags.isEmpty ? nil : tags.joined(separator: ","))
        writer.element("PushVariables", pushVariables)
        writer.element(platform.handleElement, handle.isEmpty ? nil : handle)
        for detail in platform.detailElements { writer.element(detail, details[detail]) }
        template?.write(to: &writer, platform, omitsSingleHeader: omitsSingleHeader)
        writer.close(name)
    }

    private static let declarations = " xmlns=\"\(Namespace.serviceBus)\" xmlns:i=\"\(Namespace.schemaInstance)\">"
}
