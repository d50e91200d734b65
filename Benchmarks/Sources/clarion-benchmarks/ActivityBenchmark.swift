import Foundation

/// Updates of one Live Activity to many followers by their tokens, from the request to the last count, beside a send to as many devices of
/// the same node just before: the same sink, the same core. On a channel an update is one request, whatever the number of followers.
struct ActivityBenchmark {
    static let followers = 100_000
    /// How much more processor time an update may take than the send.
    static let ratioLimit = 1.25

    let program: String
    let filler: String
    let sink: Sink
    let key: URL
    let rounds: Int
    let folder: URL

    func rows() throws -> [Measurement] {
        let data = folder.appending(path: "activities")
        try CommandRun.begin(program, data: data.path)
        // A password would cost as much processor time as thousands of pushes.
        let service = try CommandRun.client(
            [program, "key", "create", "shop", "--scope", "send", "status", "--data-directory", data.path]
        ).output.trimmingCharacters(in: .whitespacesAndNewlines)
        _ = try CommandRun.client([program, "hub", "create", "bench", "--data-directory", data.path])
        for kind in ["fill", "followers"] {
            _ = try CommandRun.client(
                [filler, kind, data.appending(path: "clarion.sqlite").path, "bench", "\(Self.followers)"])
        }
        let node = try RunningNode(program: program, data: data, settings: ["CLARION_HUB_NAME": "bench"], sink: sink, key: key)
        defer { node.server.stop() }
        _ = try activity(node, service, "start", "DeliveryAttributes", "--state", "{}", "--audience", "all", "--by-app")
        // The first of each opens connections and fills memory.
        _ = try send(node)
        _ = try update(node, service, 0)
        var (sends, updates): ([Sample], [Sample]) = ([], [])
        for round in 1...rounds {
            sends.append(try send(node))
            updates.append(try update(node, service, round))
        }
        let perPush = updates.map { $0.processor * 1_000_000 / Double(Self.followers) }
        return [
            Measurement(name: "an activity of 100,000 tokens, CPU per push", unit: "µs", values: perPush, limit: nil),
            Measurement(
                name: "an activity of 100,000 tokens, times a send to as many devices", unit: "",
                values: zip(updates, sends).map { $0.processor / $1.processor }, limit: Self.ratioLimit),
            Measurement(
                name: "an activity of 100,000 tokens, pushes per second", unit: "",
                values: updates.map { Double(Self.followers) / $0.seconds }, limit: nil),
        ]
    }

    private struct Sample {
        var seconds: Double
        var processor: Double
    }

    private func send(_ node: RunningNode) throws -> Sample {
        let before = try node.server.processorSeconds()
        // Chosen by a tag, as the followers are.
        let send = node.send(Self.padding, to: ["--audience", "all"])
        let run = try CommandRun.client(send.command, core: 1, environment: send.environment)
        guard run.output.contains("Success \(Self.followers)") else {
            throw CommandRun.Fault("not every push counts: \(run.output)")
        }
        return Sample(seconds: run.seconds, processor: try node.server.processorSeconds() - before)
    }

    /// One update, until the node has counted every push.
    private func update(_ node: RunningNode, _ service: String, _ round: Int) throws -> Sample {
        let before = (sink: try sink.totals().requests, server: try node.server.processorSeconds())
        let start = ContinuousClock.now
        _ = try activity(node, service, "update", "1", "--state", #"{"stage":"\#(round)","text":"\#(Self.padding)"}"#)
        let limit = start + .seconds(120)
        while try sink.totals().requests - before.sink < Self.followers, .now < limit { usleep(2_000) }
        let seconds = start.duration(to: .now) / .seconds(1)
        let counted = try Regex(#""accepted"\s*:\s*\#(Self.followers)\b"#)
        while try !activity(node, service, "show", "1").contains(counted), .now < limit { usleep(200_000) }
        guard .now < limit, try sink.totals().requests - before.sink == Self.followers else {
            throw CommandRun.Fault("\(try sink.totals().requests - before.sink) pushes of an update arrived")
        }
        return Sample(seconds: seconds, processor: try node.server.processorSeconds() - before.server)
    }

    /// Makes the bodies about as long as each other.
    private static let padding = String(repeating: "x", count: 70)

    private func activity(_ node: RunningNode, _ service: String, _ words: String...) throws -> String {
        try CommandRun.client(
            [program, "activity"] + words + ["--server", "http://127.0.0.1:\(node.port)"], core: 1,
            environment: ["CLARION_KEY": service]
        ).output
    }
}
