# The harness of a Ruby child: loads a program, answers calls, asks what it is told to ask. It decides nothing.
# Frames on descriptors 3 and 4: one kind byte, the length as 4 little-endian bytes, JSON in a closed form.

require 'json'
require 'set'

class TriathlonHarness
  FILE = '<program>'.freeze

  def initialize
    @source = IO.for_fd(3, 'rb')
    @sink = IO.for_fd(4, 'wb')
    @sink.sync = true
    $stdout.sync = true
  end

  def serve
    program, @limit, relayed = receive
    srand(0)
    relayed.each { |name| define_question(name) }
    begin
      eval(program, TOPLEVEL_BINDING.dup, FILE)
    rescue Exception => e
      return report('N', e)
    end
    send_frame('L', '')
    while (message = receive)
      answer(message[0], message[1].map { |value| decode(value) })
    end
  end

  def ask(function, arguments)
    send_frame('Q', JSON.generate([function, arguments.map { |value| encode(value) }]))
    good, value = receive || exit!(1)
    raise value.join(': ') unless good

    decode(value)
  end

  private

  def define_question(name)
    harness = self
    Object.send(:define_method, name) { |*arguments| harness.ask(name, arguments) }
  end

  def answer(function, arguments)
    text = JSON.generate(encode(TOPLEVEL_BINDING.receiver.send(function, *arguments)))
    raise RangeError, 'the result is too large' if text.bytesize > @limit

    send_frame('V', text)
  rescue Exception => e
    report('E', e)
  end

  def encode(value)
    case value
    when nil, true, false then value
    when Integer then value.bit_length <= 53 ? value : { 'i' => value.to_s }
    when Float then value.finite? ? value : { 'f' => special(value) }
    when String then value.dup.force_encoding('UTF-8').scrub
    when Symbol then { 'y' => value.to_s }
    when Array then value.map { |item| encode(item) }
    when Hash then { 'm' => value.map { |key, item| [encode(key), encode(item)] } }
    when Set then { 's' => value.map { |item| encode(item) } }
    else { 'u' => value.class.to_s }
    end
  end

  def special(value)
    return 'nan' if value.nan?

    value.positive? ? 'inf' : '-inf'
  end

  def decode(value)
    return value.map { |item| decode(item) } if value.is_a?(Array)
    return value unless value.is_a?(Hash)

    tag, content = value.first
    case tag
    when 'm' then content.to_h { |key, item| [decode(key), decode(item)] }
    when 's' then content.map { |item| decode(item) }.to_set
    when 'f' then { 'nan' => Float::NAN, 'inf' => Float::INFINITY, '-inf' => -Float::INFINITY }[content]
    when 'i' then content.to_i
    when 'y' then content.to_sym
    else Object.new
    end
  end

  def report(kind, error)
    line = error.backtrace_locations&.find { |place| place.path == FILE }&.lineno
    report = [error.class.to_s, encode(error.message.to_s)[0, 2000], line]
    send_frame(kind, JSON.generate(report))
  end

  def send_frame(kind, payload)
    @sink.write(kind + [payload.bytesize].pack('V') + payload.b)
  end

  def receive
    header = @source.read(5)
    return nil if header.nil? || header.bytesize < 5

    JSON.parse(@source.read(header[1, 4].unpack1('V')).force_encoding('UTF-8'))
  end
end

TriathlonHarness.new.serve
