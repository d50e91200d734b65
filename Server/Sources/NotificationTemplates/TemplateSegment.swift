/// A piece of a compiled template. Ranges are of the template's own bytes.
enum TemplateSegment: Hashable, Sendable {
    /// Written as it stands.
    case literal(Range<Int>)
    /// A value within the quotes of a string, or in the text of XML.
    case text(TemplateExpression)
    /// A number or boolean in a list; `null` in its absence, because the places in a list have a meaning.
    case element(TemplateExpression.Property)
    /// A number or boolean that is a member of an object; without a value the member is left out.
    case member(Member)
    /// The comma in front of the first member that is always there, written if one of those before it was.
    case comma

    struct Member: Hashable, Sendable {
        /// How the member is parted from those before it.
        enum Comma: Hashable, Sendable {
            /// It is the first of its object.
            case never
            /// A member that is always there stands before it.
            case always
            /// Only members stand before it that may be left out.
            case ifAnyBefore
        }

        let comma: Comma
        /// From the comma or brace before the member to the value.
        let name: Range<Int>
        let property: TemplateExpression.Property
        /// Blanks behind the value.
        let tail: Range<Int>
    }
}
