<?php
// The harness of a PHP child: loads a program, answers calls, asks what it is told to ask. It decides nothing.
// Frames on descriptors 3 and 4: one kind byte, the length as 4 little-endian bytes, JSON in a closed form.

namespace Triathlon;

final class Harness
{
    private static $source;
    private static $sink;
    private static int $limit = 0;

    // The program to be executed.
    public static function begin(): string
    {
        self::$source = fopen('php://fd/3', 'rb');
        self::$sink = fopen('php://fd/4', 'wb');
        [$program, self::$limit, $relayed] = self::receive();
        mt_srand(0);
        foreach ($relayed as $name) {
            eval("function $name(...\$arguments) { return \\Triathlon\\Harness::ask('$name', \$arguments); }");
        }
        // The tag goes: behind a closing one nothing is a first statement, as `declare` has to be.
        $program = preg_replace('/^\s*<\?php(?=\s)/i', '', $program);
        return str_starts_with(ltrim($program), '<?') ? '?>' . ltrim($program) : $program;
    }

    public static function serve(): void
    {
        self::send('L', '');
        while (($message = self::receive()) !== null) {
            self::answer($message[0], array_map([self::class, 'decode'], $message[1]));
        }
    }

    public static function ask(string $function, array $arguments): mixed
    {
        self::send('Q', json_encode([$function, array_map([self::class, 'encode'], $arguments)], self::FLAGS));
        [$good, $value] = self::receive() ?? exit(1);
        if (!$good) {
            throw new \RuntimeException(implode(': ', $value));
        }
        return self::decode($value);
    }

    // What the tests of the data set compare with in place of ==, by which true equals all that is not empty.
    public static function same(mixed $left, mixed $right): bool
    {
        if (is_array($left) && is_array($right)) {
            if (count($left) !== count($right)) {
                return false;
            }
            foreach ($left as $key => $item) {
                if (!array_key_exists($key, $right) || !self::same($item, $right[$key])) {
                    return false;
                }
            }
            return true;
        }
        $numbers = (is_int($left) || is_float($left)) && (is_int($right) || is_float($right));
        return $numbers ? $left == $right : $left === $right;
    }

    private const FLAGS = JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION | JSON_INVALID_UTF8_SUBSTITUTE;

    private static function answer(string $function, array $arguments): void
    {
        try {
            $text = json_encode(self::encode($function(...$arguments)), self::FLAGS);
            if (strlen($text) > self::$limit) {
                throw new \LengthException('the result is too large');
            }
            self::send('V', $text);
        } catch (\Throwable $error) {
            self::report('E', $error);
        }
    }

    private static function encode(mixed $value): mixed
    {
        return match (true) {
            is_array($value) => array_is_list($value)
                ? array_map([self::class, 'encode'], $value)
                : ['m' => array_map(fn ($key, $item) => [$key, self::encode($item)], array_keys($value), $value)],
            is_float($value) && !is_finite($value) =>
                ['f' => is_nan($value) ? 'nan' : ($value > 0 ? 'inf' : '-inf')],
            is_object($value) || is_resource($value) => ['u' => get_debug_type($value)],
            default => $value,
        };
    }

    private static function decode(mixed $value): mixed
    {
        if (!is_array($value) || array_is_list($value)) {
            return is_array($value) ? array_map([self::class, 'decode'], $value) : $value;
        }
        $content = reset($value);
        switch (key($value)) {
            case 'm':
                $map = [];
                foreach ($content as [$key, $item]) {
                    $map[self::decode($key)] = self::decode($item);
                }
                return $map;
            case 's':
                return array_map([self::class, 'decode'], $content);
            case 'f':
                return ['nan' => NAN, 'inf' => INF, '-inf' => -INF][$content];
            case 'i':
                return $content + 0;
            default:
                return new Opaque($content);
        }
    }

    public static function report(string $kind, \Throwable $error): void
    {
        $parts = explode('\\', get_class($error));
        $line = str_contains($error->getFile(), "eval()'d") ? $error->getLine() : null;
        $report = [end($parts), substr($error->getMessage(), 0, 2000), $line];
        self::send($kind, json_encode($report, self::FLAGS));
    }

    private static function send(string $kind, string $payload): void
    {
        fwrite(self::$sink, $kind . pack('V', strlen($payload)) . $payload);
        fflush(self::$sink);
    }

    private static function receive(): ?array
    {
        $header = self::take(5);
        if (strlen($header) < 5) {
            return null;
        }
        $payload = self::take(unpack('V', substr($header, 1))[1]);
        return json_decode($payload, true, 512, JSON_THROW_ON_ERROR);
    }

    private static function take(int $size): string
    {
        $data = '';
        while (strlen($data) < $size && !feof(self::$source)) {
            $data .= fread(self::$source, $size - strlen($data));
        }
        return $data;
    }
}

final class Opaque
{
    public function __construct(public string $type)
    {
    }
}

try {
    eval(Harness::begin()); // here, where its variables are global: functions ask for them with `global`
} catch (\Throwable $error) {
    Harness::report('N', $error);
    return;
}
Harness::serve();
