/// Keeps out of the repository what belongs to one machine or one person: paths, hosts of registries, keys, merge marks.
public struct TextCheck: Sendable {
    /// Texts that must not stand anywhere, with the reason.
    private static let forbidden: [(text: String, reason: String)] = [
        ("/" + "work/", "is a path of one machine"), ("/" + "hw/", "is a path of one machine"),
        ("/" + "root/", "is a path of one machine"), ("/" + "home/", "is a path of one machine"),
        ("/" + "tmp/tools", "is a path of one machine"), ("pypi" + ".org", "is a registry's host"),
        ("deb.debian" + ".org", "is a registry's host"), ("npmjs" + ".org", "is a registry's host"),
        ("sub" + "agent", "does not speak of the product"), ("An" + "thropic", "does not speak of the product"),
        ("<<<<" + "<<< ", "is the mark of a merge"), (">>>>" + ">>> ", "is the mark of a merge"),
    ]

    /// The largest file, in bytes.
    public static let sizeLimit = 1_000_000

    /// Creates the check.
    public init() {}

    /// What does not belong here.
    public func findings(in files: [SourceFile]) -> [Finding] {
        files.flatMap { file in
            file.lines.enumerated().flatMap { index, line in
                Self.forbidden.filter { line.contains($0.text) }.map {
                    Finding("\(file.path):\(index + 1)", "\"\($0.text)\" \($0.reason)")
                }
            } + keys(in: file)
        }
    }

    /// A private key that is more than a word in a sentence. Tests make theirs when they run.
    private func keys(in file: SourceFile) -> [Finding] {
        let lines = file.lines
        return lines.indices.dropLast().compactMap { index in
            guard lines[index].contains("PRIVATE " + "KEY-----"), lines[index].contains("BEGIN") else { return nil }
            let next = lines[index + 1].drop { $0 == " " }
            let isKey = next.count >= 48 && next.allSatisfy { $0.isLetter || $0.isNumber || "+/=\\n\"".contains($0) }
            return isKey ? Finding("\(file.path):\(index + 2)", "holds a private key") : nil
        }
    }
}
