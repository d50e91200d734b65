import HTTPService
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceErrors

/// The files of the page, embedded in the program.
struct PhonePageAssets: Sendable {
    private struct Asset: Sendable {
        var mediaType: String
        var bytes: ByteBuffer
        var entityTag: EntityTag

        init(_ mediaType: String, _ bytes: [UInt8]) {
            self.mediaType = mediaType
            self.bytes = ByteBuffer(bytes: bytes)
            entityTag = EntityTag(PhonePageAssets.digest(of: bytes))
        }
    }

    private let index = Asset("text/html; charset=utf-8", PackageResources.index_html)
    private let assets: [String: Asset]

    init() {
        var assets = ["clarion.svg": Asset("image/svg+xml", PackageResources.clarion_svg)]
        for (name, bytes) in Self.styles { assets[name + ".css"] = Asset("text/css; charset=utf-8", bytes) }
        for (name, bytes) in Self.scripts { assets[name + ".js"] = Asset("text/javascript; charset=utf-8", bytes) }
        self.assets = assets
    }

    private static let styles: [String: [UInt8]] = [
        "app": PackageResources.app_css, "base": PackageResources.base_css, "compose": PackageResources.compose_css,
        "content": PackageResources.content_css, "controls": PackageResources.controls_css, "desk": PackageResources.desk_css,
        "frame": PackageResources.frame_css, "notices": PackageResources.notices_css, "panel": PackageResources.panel_css,
        "springboard": PackageResources.springboard_css, "story": PackageResources.story_css,
        "timeline": PackageResources.timeline_css,
    ]

    private static let scripts: [String: [UInt8]] = [
        "about": PackageResources.about_js, "actors": PackageResources.actors_js, "announce": PackageResources.announce_js,
        "app": PackageResources.app_js, "bodytext": PackageResources.bodytext_js,
        "choices": PackageResources.choices_js, "compose": PackageResources.compose_js,
        "connection": PackageResources.connection_js,
        "content": PackageResources.content_js, "controls": PackageResources.controls_js, "cover": PackageResources.cover_js,
        "dom": PackageResources.dom_js, "drop": PackageResources.drop_js, "fit": PackageResources.fit_js,
        "focus": PackageResources.focus_js,
        "foot": PackageResources.foot_js, "format": PackageResources.format_js, "gestures": PackageResources.gestures_js,
        "guide": PackageResources.guide_js, "handpush": PackageResources.handpush_js, "handset": PackageResources.handset_js,
        "icons": PackageResources.icons_js, "journey": PackageResources.journey_js, "main": PackageResources.main_js,
        "notices": PackageResources.notices_js, "options": PackageResources.options_js, "panel": PackageResources.panel_js,
        "phone": PackageResources.phone_js, "player": PackageResources.player_js, "pushes": PackageResources.pushes_js,
        "reasons": PackageResources.reasons_js, "rich": PackageResources.rich_js, "save": PackageResources.save_js,
        "sent": PackageResources.sent_js, "springboard": PackageResources.springboard_js, "stage": PackageResources.stage_js,
        "state": PackageResources.state_js, "story": PackageResources.story_js, "templates": PackageResources.templates_js,
        "timeline": PackageResources.timeline_js, "toast": PackageResources.toast_js, "top": PackageResources.top_js,
    ]

    /// The page itself.
    func page(for request: Request, context: ServiceRequestContext) throws -> Response { answer(index, to: request) }

    /// One of its files. Throws `not-found`.
    func asset(named name: String, for request: Request, context: ServiceRequestContext) throws -> Response {
        guard let asset = assets[name] else { throw ServiceError(.notFound, "the page has no such file") }
        return answer(asset, to: request)
    }

    /// Everything comes from this server, nothing inline; the page is in no frame, and its forms go nowhere.
    static let contentSecurityPolicy = [
        "default-src 'self'", "object-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    ].joined(separator: "; ")

    private func answer(_ asset: Asset, to request: Request) -> Response {
        // Asked for again each time, so that a newer program never shows an older page; the tag makes that cheap.
        var headers: HTTPFields = [
            .eTag: asset.entityTag.header, .cacheControl: "no-cache", .contentSecurityPolicy: Self.contentSecurityPolicy,
        ]
        if let list = request.headers[.ifNoneMatch], asset.entityTag.isNamed(inIfNoneMatch: list) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentType] = asset.mediaType
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: asset.bytes))
    }

    /// FNV-1a, 64 bits: tells versions of a file apart, nothing more.
    private static func digest(of bytes: [UInt8]) -> String {
        let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
