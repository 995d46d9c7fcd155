# Triathlon without model weights, for machines whose own kernel has no sandbox for programs (macOS, Windows).
#   docker build -t triathlon .
#   docker run --rm --interactive --tty --volume .:/work triathlon run --model qwen2.5-coder --base-url http://host.docker.internal:11434/v1
# amd64 and arm64: `docker buildx build --platform linux/amd64,linux/arm64 .`
FROM debian:bookworm-slim
COPY . /usr/local/src/triathlon
RUN /usr/local/src/triathlon/tools/container/install /usr/local/src/triathlon
USER triathlon
WORKDIR /work
ENV TRIATHLON_CACHE=/work/.cache PATH=/opt/triathlon/bin:$PATH
ENTRYPOINT ["triathlon"]
CMD ["doctor"]
