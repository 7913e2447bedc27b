# Puts the browser tests and the npm packages they need into a folder of the build; quick when run again.
file(MAKE_DIRECTORY ${FOLDER})
file(COPY ${FILES} DESTINATION ${FOLDER})
file(SHA256 ${FOLDER}/package-lock.json wanted)
set(installed "")
if(EXISTS ${FOLDER}/installed)
  file(READ ${FOLDER}/installed installed)
endif()
if(NOT installed STREQUAL wanted)
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error
    WORKING_DIRECTORY ${FOLDER} COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${FOLDER}/installed ${wanted})
endif()
