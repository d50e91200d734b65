/// What the command line of `apns-load` says.
struct LoadOptions {
    /// How the pushes are handed over.
    enum Mode: String {
        /// Batches in, outcomes out.
        case batch
        /// One await per push, by callers on the event loop's executor.
        case loop
        /// One await per push, by callers on the global pool.
        case pool
        /// Batches at an offered rate, on as many connections as the client opens by itself.
        case rate
        /// A push to each device token of a file, as other clients are given them: one await for each push, or for each batch.
        case list
        /// The transport of FCM, whose batches are requests of their own for each device.
        case fcm
    }

    var mode = Mode.batch
    var port = 0
    /// The file with the certificate to trust.
    var certificate = ""
    /// The file with a device token in each line, in mode `list`.
    var tokens = ""
    /// The most pushes in flight.
    var window = 1000
    var count = 100_000
    /// Bytes.
    var body = 188
    var batch = 256
    /// Pushes a second, in mode `rate`.
    var rate = 20_000
    /// Seconds, in mode `rate`.
    var seconds = 10
    /// Event loops of the client, each with a connection of its own when the mode is not `rate`.
    var loops = 1
    /// Connections at most, and batches that are under way at once, in mode `fcm`.
    var connections = 1
    var callers = 1
    /// Whether every push has an `apns-id` of its own, as those of a server have.
    var hasIDs = true

    init(_ words: [String]) throws(LoadFault) {
        var words = words[...]
        while let word = words.popFirst() {
            if word == "--without-ids" {
                hasIDs = false
                continue
            }
            guard let value = words.popFirst() else { throw LoadFault("\(word) needs a value") }
            switch word {
            case "--mode":
                guard let mode = Mode(rawValue: value) else { throw LoadFault("unknown mode \(value)") }
                self.mode = mode
            case "--certificate": certificate = value
            case "--tokens": tokens = value
            default: try set(word, to: value)
            }
        }
    }

    private mutating func set(_ word: String, to value: String) throws(LoadFault) {
        guard let number = Int(value), number > 0 else { throw LoadFault("\(word) needs a number above 0") }
        switch word {
        case "--port": port = number
        case "--window": window = number
        case "--count": count = number
        case "--body": body = number
        case "--batch": batch = number
        case "--rate": rate = number
        case "--seconds": seconds = number
        case "--loops": loops = number
        case "--connections": connections = number
        case "--callers": callers = number
        default: throw LoadFault("unknown option \(word)")
        }
    }
}

/// Why `apns-load` cannot do what it was asked.
struct LoadFault: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
