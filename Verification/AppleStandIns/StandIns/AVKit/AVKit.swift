// A stand-in for checks on Linux, written from Apple's documentation; not Apple's code.
import SwiftUI

@MainActor
open class AVPlayer: NSObject {
    public let fakeURL: URL
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
        return [node]
    }
}
