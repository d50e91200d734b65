/// Decodes Huffman-coded strings with a table of states that takes four bits at a step (RFC 7541, 5.2).
struct HuffmanDecoder {
    /// Where four more bits lead.
    private struct Step {
        var next: UInt16
        var symbol: UInt8
        var emits: Bool
    }

    static let shared = HuffmanDecoder()

    /// 16 steps for each inner node of the code tree. A step that cannot be, or that completes the end-of-string code, has `next` = `.max`.
    private let steps: [Step]
    /// For each node: whether the string may end there, that is at most 7 ones after the last symbol.
    private let mayEnd: [Bool]

    /// Appends what `coded` says to `output`, at most `limit` bytes in all.
    func decode(_ coded: UnsafeRawBufferPointer, into output: inout [UInt8], limit: Int) throws(HPACKFault) {
        var node = 0
        for byte in coded {
            for shift in [UInt8(4), 0] {
                let step = steps[node << 4 | Int(byte >> shift & 0x0F)]
                guard step.next != .max else { throw .invalidHuffman }
                if step.emits {
                    guard output.count < limit else { throw .stringTooLong }
                    output.append(step.symbol)
                }
                node = Int(step.next)
            }
        }
        guard mayEnd[node] else { throw .invalidHuffman }
    }

    private init() {
        let tree = Tree()
        var steps: [Step] = []
        for node in tree.children.indices {
            for nibble in UInt8(0)..<16 { steps.append(Self.step(from: node, nibble: nibble, in: tree)) }
        }
        self.steps = steps
        mayEnd = tree.children.indices.map { tree.depthInOnes[$0].map { $0 < 8 } ?? false }
    }

    private static func step(from start: Int, nibble: UInt8, in tree: Tree) -> Step {
        var node = start
        var step = Step(next: 0, symbol: 0, emits: false)
        for bit in (0..<4).reversed() {
            switch tree.children[node][Int(nibble >> UInt8(bit) & 1)] {
            case .node(let next): node = next
            case .symbol(let symbol) where symbol < HuffmanCode.endOfString:
                // The shortest code has five bits, so a step of four never completes two.
                step.symbol = UInt8(symbol)
                step.emits = true
                node = 0
            case .symbol, .none: return Step(next: .max, symbol: 0, emits: false)
            }
        }
        step.next = UInt16(node)
        return step
    }
}

extension HuffmanDecoder {
    /// The code as a tree, only to make the table of steps.
    private struct Tree {
        enum Child {
            case none
            case node(Int)
            case symbol(Int)
        }

        var children: [[Child]] = [[.none, .none]]
        /// For nodes on the path of ones, which is how the padding looks: their depth.
        var depthInOnes: [Int?] = [0]

        init() {
            for (symbol, entry) in HuffmanCode.table.enumerated() { insert(symbol, code: entry.code, length: Int(entry.length)) }
        }

        private mutating func insert(_ symbol: Int, code: UInt32, length: Int) {
            var node = 0
            for bit in (1..<length).reversed() {
                let side = Int(code >> UInt32(bit) & 1)
                if case .node(let next) = children[node][side] {
                    node = next
                    continue
                }
                children.append([.none, .none])
                depthInOnes.append(side == 1 ? depthInOnes[node].map { $0 + 1 } : nil)
                children[node][side] = .node(children.count - 1)
                node = children.count - 1
            }
            children[node][Int(code & 1)] = .symbol(symbol)
        }
    }
}
