import NIOCore

/// The liveness of a connection: when it was last heard, and whether a PING is unanswered.
struct HTTP2Probe {
    var lastRead = NIODeadline.uptimeNanoseconds(0)
    var sentAt: NIODeadline?
    /// Since when requests wait without any answer, or pushes wait that this idle connection cannot take. A request that failed at
    /// its deadline still counts, since nothing shows that the connection works.
    var owingSince: NIODeadline?
    /// The content of the last PING; counts up.
    var value: UInt64 = 0
    /// When the round trip was last measured, or the connection was begun.
    var measuredAt = NIODeadline.uptimeNanoseconds(0)
    /// From the last PING to its answer; at first from our SETTINGS to theirs being acknowledged.
    var roundTrip: TimeAmount?
}

extension HTTP2Connection {
    /// The result of a check.
    enum Watch: Equatable {
        /// Check again then, at the latest.
        case again(NIODeadline)
        /// A PING went unanswered: the connection is dead.
        case dead
        /// PING is answered and requests are not: nothing more may be sent here.
        case stuck
    }

    /// Notes that bytes arrived.
    mutating func noteRead(at now: NIODeadline) { probe.lastRead = now }

    /// Call before requests are written: a connection that was silent for long is probed in the same write
    /// (Reference/APNs.md#1-8). One in use gets a PING now and then as well, so that its round trip is known
    /// (Reference/APNs.md#8-26).
    mutating func probeAfterSilence(at now: NIODeadline) {
        if probe.owingSince == nil { probe.owingSince = now }
        guard probe.sentAt == nil else { return }
        if now - probe.lastRead > limits.silenceBeforePing {
            sendProbe(at: now)
        } else if now - probe.measuredAt > limits.measurementInterval {
            sendProbe(at: now)
        }
    }

    /// A push waits and cannot be sent here though nothing is open: the server allows no stream, or gives no credit back.
    mutating func noteUnfit(at now: NIODeadline) {
        if phase == .open, streams.count == 0, probe.owingSince == nil { probe.owingSince = now }
    }

    /// The caller of every open request has lost interest: that says nothing about the connection.
    mutating func forgiveSilence() {
        if streams.count == 0 { probe.owingSince = nil }
    }

    /// Checks the connection: an unanswered PING ends it; open streams and long silence cause one.
    mutating func watch(at now: NIODeadline) -> Watch {
        if let sentAt = probe.sentAt, probe.lastRead > sentAt, now >= sentAt + limits.pingAnswer {
            // Not answered, but something else was heard: alive, and asked again when it falls silent.
            probe.sentAt = nil
        }
        if let sentAt = probe.sentAt {
            return now >= sentAt + limits.pingAnswer ? .dead : .again(sentAt + limits.pingAnswer)
        }
        // A draining connection is being replaced already.
        let answerDeadline = phase == .open ? probe.owingSince.map { $0 + limits.noAnswer } : nil
        if let answerDeadline, now >= answerDeadline { return .stuck }
        guard streams.count > 0 else { return .again(now + limits.stallBeforePing) }
        let due = probe.lastRead + limits.stallBeforePing
        guard now >= due else { return .again(answerDeadline.map { min(due, $0) } ?? due) }
        sendProbe(at: now)
        return .again(now + limits.pingAnswer)
    }

    mutating func receivePingAcknowledgement(_ value: UInt64, at now: NIODeadline) {
        guard value == probe.value, let sentAt = probe.sentAt else { return }
        probe.sentAt = nil
        noteRoundTrip(since: sentAt, at: now)
    }

    /// The server took our SETTINGS: the first round trip, at no cost.
    mutating func receiveSettingsAcknowledgement(at now: NIODeadline) {
        if probe.roundTrip == nil { noteRoundTrip(since: probe.measuredAt, at: now) }
    }

    private mutating func noteRoundTrip(since start: NIODeadline, at now: NIODeadline) {
        probe.roundTrip = now - start
        probe.measuredAt = now
    }

    private mutating func sendProbe(at now: NIODeadline) {
        probe.value += 1
        probe.sentAt = now
        output.writeHTTP2Ping(probe.value, isAcknowledgement: false)
    }
}
