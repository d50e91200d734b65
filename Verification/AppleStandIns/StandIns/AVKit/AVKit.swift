// A stand-in for checks on Linux, written from Apple's documentation; not Apple's code.
import SwiftUI

@MainActor
open class AVPlayer: NSObject {
    /// By these AVFoundation knows what a local file is; of one without it plays nothing.
    static let fakeEndings: Set<String> = ["mp3", "m4a", "wav", "aiff", "caf", "mp4", "mov", "mpg"]

    public let fakeURL: URL
    public var fakeIsPlayable: Bool {
        Self.fakeEndings.contains(fakeURL.pathExtension) && FileManager.default.fileExists(atPath: fakeURL.path)
    }
    public private(set) var fakeIsPlaying = false
    public init(url: URL) { fakeURL = url }
    open func play() { fakeIsPlaying = true }
    open func pause() { fakeIsPlaying = false }
}

public struct VideoPlayer: FakeDrawn {
    let player: AVPlayer?
    public init(player: AVPlayer?) { self.player = player }
    public var fakeNodes: [FakeNode] {
        var node = FakeNode("player")
        node.attributes["file"] = player?.fakeURL.path
        node.attributes["isPlayable"] = player.map { "\($0.fakeIsPlayable)" }
        return [node]
    }
}
