# frozen_string_literal: true

# The examples of the documentation: those of the comments in lib/, and those of README.md and the
# guide. Each becomes a piece of Ruby in which `EXPRESSION # => VALUE` is a comparison.
module Examples
  ROOT = File.expand_path('..', __dir__)
  GUIDE = %w[bring-your-data coming-from-pstore locks].map do |name|
    File.expand_path("../../docs/guide/#{name}.md", ROOT)
  end

  One = Struct.new(:file, :line, :code) do
    def name
      "#{file.delete_prefix("#{ROOT}/")}:#{line}"
    end
  end

  # A tag or a comment of another kind ends an example.
  def self.in_comments(file)
    found = []
    current = indent = nil
    File.readlines(file, chomp: true).each_with_index do |text, i|
      comment = text[/\A\s*#( ?.*)\z/, 1]
      if comment && (tag = comment.match(/\A(\s*)@example\b/))
        indent = tag[1].size
        found << (current = One.new(file, i + 1, +''))
      elsif current && comment && (comment.strip.empty? || comment[/\A */].size > indent)
        current.code << comment.strip_at(indent) << "\n"
      else
        current = nil
      end
    end
    found
  end

  # The blocks of Ruby in a page. One that begins with a comment "not run" is only shown.
  def self.in_page(file)
    found = []
    current = nil
    File.readlines(file, chomp: true).each_with_index do |text, i|
      if text == '```ruby' then found << (current = One.new(file, i + 1, +''))
      elsif text.start_with?('```') then current = nil
      elsif current then current.code << text << "\n"
      end
    end
    found.reject { |one| one.code.start_with?('# not run') }
  end

  # Returns the code with each `# => VALUE` as a call of `same(VALUE, EXPRESSION)`.
  def self.checked(code)
    open_lines = []
    code.lines.map do |line|
      open_lines << line
      match = line.match(/\A(\s*)(.*\S)\s+# => (.*)$/)
      next line unless match

      expression = match[2]
      if expression.match?(/\Aend\b/)
        # The value of a block of several lines is checked as a whole.
        "#{match[1]}#{expression}.then { |value| same((#{match[3]}), value, #{line.strip.dump}) }\n"
      else
        "#{match[1]}same((#{match[3]}), (#{expression}), #{line.strip.dump})\n"
      end
    end.join
  end
end

class String
  # The comment without the spaces of its tag.
  def strip_at(indent)
    sub(/\A {0,#{indent + 2}}/, '')
  end
end
