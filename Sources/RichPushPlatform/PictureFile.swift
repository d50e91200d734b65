#if canImport(UIKit) && canImport(UserNotifications)
    import Foundation
    import ImageIO

    /// A received picture on disk; a small file may have enormous dimensions. It is decoded to the displayed size, never as a whole,
    /// and only after its header has said how large it would become.
    ///
    /// Decoding takes processor time: call it away from the main actor.
    package struct PictureFile: Sendable {
        /// What is decoded, in pixels.
        package struct Limits: Hashable, Sendable {
            /// The most that the file may have. Formats that cannot be read in a smaller size take four bytes for each of them
            /// while they are decoded.
            package var pixels: Int
            /// The most that the decoded picture has.
            package var decodedPixels: Int
            /// The longest side of the decoded picture.
            package var side: Int

            /// Creates limits; without a side, only the number of pixels counts.
            package init(pixels: Int, decodedPixels: Int, side: Int = .max) {
                (self.pixels, self.decodedPixels, self.side) = (pixels, decodedPixels, side)
            }

            /// On a screen of an app. What the cameras of phones take has less than 50 million pixels.
            package static let screen = Limits(pixels: 50_000_000, decodedPixels: 8_000_000)
            /// In the process of an extension, which has less memory.
            package static let notification = Limits(pixels: 24_000_000, decodedPixels: 2_000_000)
        }

        package enum Failure: Error, Hashable {
            /// It is no picture that the system reads.
            case unreadable
            /// It has more pixels than the limit; nothing of it was decoded.
            case tooManyPixels
        }

        private let file: URL

        /// Names a picture; nothing is read yet.
        package init(_ file: URL) { self.file = file }

        /// The height for a width of 1, upright, from the header alone.
        package func heightToWidth(within limits: Limits) throws(Failure) -> Double {
            let header = try header(of: try source(), within: limits)
            return Double(header.height) / Double(header.width)
        }

        /// The picture, upright, in its own size or as small as the limits want it.
        package func decoded(within limits: Limits) throws(Failure) -> CGImage {
            let source = try source()
            let header = try header(of: source, within: limits)
            let options: [String: Any] = [
                kCGImageSourceCreateThumbnailFromImageAlways as String: true,
                kCGImageSourceCreateThumbnailWithTransform as String: true,
                kCGImageSourceThumbnailMaxPixelSize as String: header.side(within: limits),
                // Else it would be decoded when it is drawn, on the main thread.
                kCGImageSourceShouldCacheImmediately as String: true,
            ]
            guard let image = CGImageSourceCreateThumbnailAtIndex(source, 0, options as CFDictionary) else { throw .unreadable }
            return image
        }

        private func source() throws(Failure) -> CGImageSource {
            let options: [String: Any] = [kCGImageSourceShouldCache as String: false]
            guard let source = CGImageSourceCreateWithURL(file as CFURL, options as CFDictionary) else { throw .unreadable }
            return source
        }

        private func header(of source: CGImageSource, within limits: Limits) throws(Failure) -> Header {
            let properties = CGImageSourceCopyPropertiesAtIndex(source, 0, nil) as? [String: Any]
            guard let header = Header(properties ?? [:]) else { throw .unreadable }
            let (pixels, isBeyond) = header.width.multipliedReportingOverflow(by: header.height)
            guard !isBeyond, pixels <= limits.pixels else { throw .tooManyPixels }
            return header
        }

        /// What the header says, with the sides as they are seen.
        private struct Header {
            let width: Int, height: Int

            init?(_ properties: [String: Any]) {
                guard let width = properties[kCGImagePropertyPixelWidth as String] as? Int, width > 0,
                    let height = properties[kCGImagePropertyPixelHeight as String] as? Int, height > 0
                else { return nil }
                // From 5 on the picture lies on its side (TIFF 6.0, Orientation).
                let isTurned = (properties[kCGImagePropertyOrientation as String] as? Int ?? 1) >= 5
                (self.width, self.height) = isTurned ? (height, width) : (width, height)
            }

            /// The longest side that keeps the limits.
            func side(within limits: Limits) -> Int {
                let longest = max(width, height)
                let shrink = (Double(limits.decodedPixels) / Double(width * height)).squareRoot()
                let fitting = shrink < 1 ? max(1, Int(Double(longest) * shrink)) : longest
                return min(fitting, limits.side)
            }
        }
    }
#endif
