/// The place that an operation names (Reference/AzureNotificationHubs.md#5-2). The fixed words match without regard to case,
/// names literally.
enum PatchPath: Hashable {
    case pushChannel
    case userID
    case expirationTime
    case tags
    case tag(String)
    case template(String, TemplatePart)
    case tile(String, TilePart)

    /// What of a template.
    enum TemplatePart: Hashable {
        case whole, body, headers, expiry, tags
        case tag(String)
    }

    /// What of a secondary tile.
    enum TilePart: Hashable {
        case whole, pushChannel, tags
        case tag(String)
        case template(String, TemplatePart)
    }

    /// Reads a path; `nil` when the table has no such one, as the whole of `/templates` or `/secondaryTiles`.
    init?(_ text: String) {
        guard text.first == "/" else { return nil }
        var segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map(Self.unescaped)
        if segments.count > 1, segments.last == "" { segments.removeLast() }
        guard !segments.contains("") else { return nil }
        let word = segments[0].lowercased()
        switch (word, segments.count) {
        case ("pushchannel", 1): self = .pushChannel
        case ("userid", 1): self = .userID
        case ("expirationtime", 1): self = .expirationTime
        case ("tags", 1): self = .tags
        case ("tags", 2): self = .tag(segments[1])
        case ("templates", 2...):
            guard let part = Self.templatePart(segments.dropFirst(2)) else { return nil }
            self = .template(segments[1], part)
        case ("secondarytiles", 2...):
            guard let part = Self.tilePart(segments.dropFirst(2)) else { return nil }
            self = .tile(segments[1], part)
        default: return nil
        }
    }

    private static func templatePart(_ segments: ArraySlice<String>) -> TemplatePart? {
        switch (segments.first?.lowercased(), segments.count) {
        case (nil, _): .whole
        case ("body", 1): .body
        case ("headers", 1): .headers
        case ("expiry", 1): .expiry
        case ("tags", 1): .tags
        case ("tags", 2): segments.last.map(TemplatePart.tag)
        default: nil
        }
    }

    private static func tilePart(_ segments: ArraySlice<String>) -> TilePart? {
        switch (segments.first?.lowercased(), segments.count) {
        case (nil, _): .whole
        case ("pushchannel", 1): .pushChannel
        case ("tags", 1): .tags
        case ("tags", 2): segments.last.map(TilePart.tag)
        case ("templates", 2...):
            templatePart(segments.dropFirst(2)).flatMap { part in
                segments.dropFirst().first.map { .template($0, part) }
            }
        default: nil
        }
    }

    /// `~1` is `/`, `~0` is `~`; any other tilde is itself.
    private static func unescaped(_ segment: Substring) -> String {
        var result = String.UnicodeScalarView()
        var isTilde = false
        for scalar in segment.unicodeScalars {
            if isTilde {
                isTilde = false
                if scalar == "0" || scalar == "1" {
                    result.append(scalar == "0" ? "~" : "/")
                    continue
                }
                result.append("~")
            }
            if scalar == "~" { isTilde = true } else { result.append(scalar) }
        }
        if isTilde { result.append("~") }
        return String(result)
    }

    /// A name as a segment of a path.
    static func escaped(_ name: String) -> String {
        name.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }
}
