import Foundation

/// A simulated phone whose service extension is a process of its own: how soon a push is shown, and how much the extension grows
/// while it fetches a picture. Server, local APNs and phone are the built program.
struct PhoneBenchmark {
    let program: String
    let rounds: Int

    /// From the arrival of a push at the phone to its being shown, the start of the process included; the network is loopback.
    private static let shownLimit = 150.0
    private static let memoryLimit = 6.0
    private static let topic = "org.example.app"
    private static let password = "correct horse battery"

    func run() throws -> [Measurement] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "clarion-benchmark-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder.appending(path: "data"), withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let stage = try PhoneStage(program: program, folder: folder, topic: Self.topic, password: Self.password)
        defer { stage.stop() }
        let small = try Self.picture(10_000, in: folder)
        let large = try Self.picture(10_000_000, in: folder)
        // The first push also fills the system's cache of the program; it is not counted.
        _ = try stage.push(small)
        var shown = Measurement(name: "push to shown, 10 kB picture", unit: "ms", values: [], limit: Self.shownLimit)
        var shownLarge = Measurement(name: "push to shown, 10 MB picture", unit: "ms", values: [], limit: Self.shownLimit)
        var own = Measurement(
            name: "extension's own memory, growth, 10 MB", unit: "MiB", values: [], limit: Self.memoryLimit,
            isLimitForAll: true)
        var all = Measurement(
            name: "extension's resident growth, code included, 10 MB", unit: "MiB", values: [], limit: Self.memoryLimit)
        var code = Measurement(name: "the same with 10 kB", unit: "MiB", values: [], limit: nil)
        for _ in 0..<rounds {
            let first = try stage.push(small)
            shown.values.append(first.milliseconds)
            code.values.append(first.resident)
            let second = try stage.push(large)
            shownLarge.values.append(second.milliseconds)
            own.values.append(second.own)
            all.values.append(second.resident)
        }
        return [shown, shownLarge, own, all, code]
    }

    /// Noise behind the mark of a GIF; it is never decoded.
    private static func picture(_ count: Int, in folder: URL) throws -> String {
        var bytes = Data("GIF89a".utf8)
        bytes.append(contentsOf: (0..<count - 6).map { _ in UInt8.random(in: .min ... .max) })
        let file = folder.appending(path: "\(count).gif")
        try bytes.write(to: file)
        return file.path()
    }
}
