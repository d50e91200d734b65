/// The media types that content may have. What is not on this list could be shown as active content by something that reads it:
/// a server does not store it and a device does not take it.
public enum MediaFormat: String, CaseIterable, Sendable {
    case png = "image/png"
    case jpeg = "image/jpeg"
    case gif = "image/gif"
    case webp = "image/webp"
    case heic = "image/heic"
    case mp3 = "audio/mpeg"
    case m4a = "audio/mp4"
    case wav = "audio/wav"
    case aiff = "audio/aiff"
    case caf = "audio/x-caf"
    case mp4 = "video/mp4"
    case quickTime = "video/quicktime"
    case mpeg = "video/mpeg"
    case pdf = "application/pdf"
    /// A coupon, which the server writes itself.
    case json = "application/json"
    /// A link, which the server writes itself.
    case uriList = "text/uri-list"
    case plainText = "text/plain"
    /// What a sender has sealed for devices; nobody else can tell what it is.
    case sealed = "application/vnd.clarion.sealed"

    /// The first bytes of everything that is sealed: the format and its version.
    public static let sealMark: [UInt8] = Array("CLRNSEAL".utf8) + [1]

    /// `image/png` of `Image/PNG; name=x`: what a header declares without its parameters.
    public static func essence(of declared: String) -> String {
        declared.prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace }
    }
}
