#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the body of a background push must look like (Reference/APNs.md#3-3 and #6-4).
///
/// An empty alert or sound is let through: the payload of the rich push tutorial has `"sound": ""`, and nothing is shown or
/// heard.
enum APNsBackgroundContent {
    private struct Body: Decodable {
        struct Aps: Decodable {
            var contentAvailable: Int?
            var isVisible: Bool

            enum CodingKeys: String, CodingKey {
                case contentAvailable = "content-available"
                case alert, badge, sound
            }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                contentAvailable = try? container.decodeIfPresent(Int.self, forKey: .contentAvailable)
                isVisible = [CodingKeys.alert, .badge, .sound].contains { key in
                    guard container.contains(key), (try? container.decodeNil(forKey: key)) != true else { return false }
                    return (try? container.decode(String.self, forKey: key)) != ""
                }
            }
        }

        var aps: Aps?
    }

    static func check(_ payload: [UInt8]) throws(APNsPushFault) {
        guard let body = try? JSONDecoder().decode(Body.self, from: Data(payload)) else { throw .payloadNotJSON }
        guard let aps = body.aps, aps.contentAvailable == 1, !aps.isVisible else { throw .backgroundContent }
    }
}
