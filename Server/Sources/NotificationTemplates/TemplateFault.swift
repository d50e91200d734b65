/// What a parser reports: the reason and the byte, before anybody knows which part of a template it was.
struct TemplateFault: Error {
    let reason: TemplateError.Reason
    /// `nil` when it is not at one place.
    let offset: Int?

    init(_ reason: TemplateError.Reason, at offset: Int?) {
        self.reason = reason
        self.offset = offset
    }
}
